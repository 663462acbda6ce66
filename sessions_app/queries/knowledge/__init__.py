"""Reads of knowledge bases and units."""
