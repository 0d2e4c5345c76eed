"""The components `coordinator` and `failures` of the adapter protocol: configuration, events, scripts."""
