"""The page that shows the answers of every generation to the same sequence of events, side by side."""
