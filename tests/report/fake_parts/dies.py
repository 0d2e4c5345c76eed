"""A part whose process is ended from outside."""

import os
import signal


def run(context):
    os.kill(os.getpid(), signal.SIGKILL)
