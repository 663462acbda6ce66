"""Trials: a recorded turn run again with changes."""
