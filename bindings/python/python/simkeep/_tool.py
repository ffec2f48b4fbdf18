"""The command `simkeep`."""

import signal
import sys

from . import _simkeep


def main() -> int:
    """Runs the tool by the words that the program was called by, and returns its exit code."""
    # Ctrl-C ends it, at any moment and without loss: nothing here waits to be told.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _simkeep._tool(["simkeep", *sys.argv[1:]])
