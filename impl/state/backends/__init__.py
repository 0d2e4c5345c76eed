"""State backends: keyed state in memory and in RocksDB, operator state, keys and key groups."""
