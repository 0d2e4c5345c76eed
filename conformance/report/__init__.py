"""What people and machines get to read.

`story` tells a divergence, `words` its events and effects; `saved` keeps it as a replay file and as a
test; `conform` prints a run; `places` finds where a rule stands. Of a whole verification `screen` is one
screen, `verification` the JSON (verification.schema.json), `junit` the XML, `progress` what a terminal
shows meanwhile. `findings` writes the same of other commands, `sarif` as SARIF; `refusal` tells why an
answer was refused, `replays` writes a divergence for TLC and as a trace. `casualties` and `mutation_score`
tell of mutants; `plots` draws figures and checkpoints over time.
"""
