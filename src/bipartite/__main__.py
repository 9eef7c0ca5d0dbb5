"""``python -m bipartite`` runs the ``bipartite`` command."""

import sys

from bipartite.cli import main

if __name__ == "__main__":
    sys.exit(main())
