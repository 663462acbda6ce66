"""The floor of a stored turn: a minimal view writes the rows of real turns again with plain ORM code.

It runs in the same kind of server with the same settings, except for the URLs.
"""
