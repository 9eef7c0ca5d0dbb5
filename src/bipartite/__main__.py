"""``python -m bipartite`` is the command ``bipartite``."""

import sys

from bipartite.cli import main

if __name__ == "__main__":
    sys.exit(main())
