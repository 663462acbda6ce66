"""Writes to knowledge bases, drafts and mounts."""
