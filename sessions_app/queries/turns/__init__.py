"""Reads of turns, their graphs and payloads."""
