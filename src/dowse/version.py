"""The version at run time."""

__version__ = "0.1.0"
