"""``python -m dsteval``."""

from dsteval.cli import main

if __name__ == "__main__":
    main()
