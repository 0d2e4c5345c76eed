"""The components of the protocol in the suite: one file or folder for each. `registry` maps names to them."""
