"""``python -m worldline`` is the command ``worldline``."""

from worldline.cli.stuck import entry

if __name__ == "__main__":
    entry()
