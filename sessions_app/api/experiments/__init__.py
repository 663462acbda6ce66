"""Replay, trials and diagnosis of recorded turns."""
