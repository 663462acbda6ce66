"""Reads of sessions and of what they hold."""
