"""The components of the vocabulary in the suite: one file or folder each, found by its name (`registry`)."""
