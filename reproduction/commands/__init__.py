"""The commands of ``python -m reproduction``."""
