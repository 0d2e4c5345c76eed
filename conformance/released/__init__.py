"""Compares releases of Flink with the model, component by component.

`comparison` makes sequences, plays them and compares the answers. A module for each component (`gate`,
`channel`, `subtask`, `coordinator`, `failure_counts`, `sink`) gives the configurations and events. `results`
and `matrix` define the results of one component and of all, `known_divergences` reads the listed divergences.
"""
