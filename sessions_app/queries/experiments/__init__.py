"""Reads of experiments and trials."""
