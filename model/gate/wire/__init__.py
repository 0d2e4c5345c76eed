"""The component `gate` of the adapter protocol: `gate` selects the mode; every other module is one mode."""
