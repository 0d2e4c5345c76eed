"""The playground: a static page on which a reader steps through state graphs of the model."""
