"""A divergence as a person meets it: the story, the saved case, the test, the replay."""
