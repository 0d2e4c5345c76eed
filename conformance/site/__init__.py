"""The documentation site: the pages that are made when it is built.

A page for each rule (`rule_pages`: its texts in TLA+ and Python from `texts`, a diagram of a golden
transcript from `scenes`), and one for each command (`command_pages`). `links` turns the pages and rules that
a text names into links. `hooks` passes all of it to mkdocs, and is the only module that knows mkdocs.
"""
