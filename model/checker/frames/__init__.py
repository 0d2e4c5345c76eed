"""Search of composed models: every move is asked of Python once for each way in which what it reads
stands.
"""
