"""The cases of the sink: in stated sizes, and for any number of transactions."""
