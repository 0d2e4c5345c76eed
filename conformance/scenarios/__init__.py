"""Makes two pages: the generations side by side, and the switches that releases have decided.

`side_by_side` makes the first page: every generation's answers to the same events. `deciding_runs` drives
releases through one run for each switch, and `switch_page` makes the second page from the results.
"""
