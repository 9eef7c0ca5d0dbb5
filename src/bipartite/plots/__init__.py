"""One visual language for all pictures, drawn by matplotlib on the axes of a user or on new ones.

May import: domains, mechanisms.
Begin reading: figure.py, shares.py.
"""
