"""The version, stated only here."""

__version__ = "0.2.0"
