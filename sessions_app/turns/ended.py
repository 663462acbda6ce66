"""Who is told that a turn has ended, beside its caller and the live pages."""

from django.dispatch import Signal

turn_ended = Signal()
"""Sent on the turn's thread once its end is stored, whatever the end: `turn`, and its machine `events`.

Receivers connect when the server starts; one that raises is logged, and the turn stays as it is.
"""
