"""What a trace shows of a source that commits its offsets: one file for each component of a source."""
