"""Writes to projects, keys, model roles and statistics."""
