"""The version, where both the package and the command line read it without importing anything."""

__version__ = "0.1.0"
