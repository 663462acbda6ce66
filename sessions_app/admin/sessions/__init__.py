"""Conversations in the admin."""
