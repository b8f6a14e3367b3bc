"""``python -m worldline`` is the command ``worldline``."""

import sys

from worldline.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
