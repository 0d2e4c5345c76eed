"""The replay of a source: `rows` checks the rows that it sends, `offsets` the commits of its offsets."""
