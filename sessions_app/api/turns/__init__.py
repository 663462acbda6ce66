"""Endpoints of turns: chat, streams, the registry."""
