"""Endpoints of sessions and of what they hold."""
