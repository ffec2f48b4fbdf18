"""The command `simkeep`."""

import signal
import sys

from . import _simkeep


def main() -> int:
    """Runs the tool with the arguments of this program, and returns its exit code."""
    # Ctrl-C ends the process at once. That loses no data: the tool needs no signal handler.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _simkeep._tool(["simkeep", *sys.argv[1:]])
