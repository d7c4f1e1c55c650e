"""The one place that holds the version at run time."""

__version__ = "0.1.0"
