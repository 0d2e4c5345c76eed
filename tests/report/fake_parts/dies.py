"""A part whose process is killed from outside."""

import os
import signal


def run(context):
    os.kill(os.getpid(), signal.SIGKILL)
