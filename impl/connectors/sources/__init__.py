"""Sources that can be read again from an offset: files, folders of files, and generated rows."""
