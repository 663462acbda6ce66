"""Traces of other applications."""
