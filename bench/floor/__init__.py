"""The floor of a persisted turn: the rows of real turns, written again by bare ORM code behind a bare view.

It runs in the same kind of server with the same settings, but for its addresses.
"""
