"""Turns and what they store."""
