"""Writes to finished turns."""
