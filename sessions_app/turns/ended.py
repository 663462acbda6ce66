"""Listeners to the end of a turn, beside its caller and the live pages."""

from django.dispatch import Signal

turn_ended = Signal()
"""Sent on the turn's thread once its end is stored, whatever the end: `turn`, its machine `events`,
its place in a `trace` or None, and its `answer`, None unless it succeeded.

Receivers connect when the server starts; one that raises is logged, and the turn stays as it is.
"""
