"""Slash commands: answered from the session's own state and recorded beside the conversation."""
