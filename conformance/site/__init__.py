"""The documentation site: makes pages while mkdocs builds it.

`rule_pages` makes a page for each rule: `texts` has its text in TLA+ and Python, `scenes` a golden transcript
for its diagram. `command_pages` makes the pages of the command line. `links` turns the names of pages and
rules into links. `hooks` passes the pages to mkdocs, and is the only module that uses mkdocs.
"""
