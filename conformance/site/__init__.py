"""The documentation site: what of it is made when it is built, so that no page can tell what is not so.

A page for each rule (`rule_pages`: its texts in TLA+ and Python from `texts`, a picture of a golden
transcript from `scenes`, `gate_picture` and `talk_picture`), and one for each command (`command_pages`).
`links` makes links of what pages and README name in words. `hooks` hands all of it to mkdocs, which alone
of these rooms knows mkdocs.
"""
