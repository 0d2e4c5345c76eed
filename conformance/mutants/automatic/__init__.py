"""First-order mutants made by operators: each protocol module of the three layers, edited once."""
