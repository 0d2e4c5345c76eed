"""The parts that all commands use: types of options, progress, standard streams, and failures."""
