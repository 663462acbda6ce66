"""Seed detectors: from a message to its intents and the knowledge it states."""
