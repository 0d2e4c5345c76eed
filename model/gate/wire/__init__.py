"""The component `gate` of the adapter protocol; `gate` picks the mode, the other files are one mode each."""
