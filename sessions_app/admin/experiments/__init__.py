"""Experiments and trials in the admin."""
