"""Reads of projects, model roles and statistics."""
