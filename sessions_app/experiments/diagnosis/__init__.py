"""Searches of trials for what an answer depends on."""
