"""Columns of files and frames: a plan says what each column may become, and a release happens once."""
