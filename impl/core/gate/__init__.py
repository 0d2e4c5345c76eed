"""The input gate of one task, in every mode and generation; `from_config` picks the handler."""
