"""How well messages that depend on the conversation are recognised and rewritten."""
