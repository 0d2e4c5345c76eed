"""What all commands share: types of options, progress, standard streams, and how a failure ends."""
