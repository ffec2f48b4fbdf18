"""The tool: `python -m simkeep`."""

import sys

from ._tool import main

if __name__ == "__main__":
    sys.exit(main())
