"""Answers nothing."""


def run(context):
    return None
