"""The playground: the model's state graphs as data, and a static page on which a reader plays them."""
