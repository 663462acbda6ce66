"""Writes to sessions and to what they hold."""
