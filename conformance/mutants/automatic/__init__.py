"""First-order mutants that nobody chose: every protocol module of the three layers, edited once."""
