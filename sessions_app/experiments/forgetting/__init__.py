"""Forgetting with proof: what came from a message, a source or a person is found, removed, and searched for again."""
