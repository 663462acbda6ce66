"""Clauses with their roles: who does what to whom, where, when, and which question that answers."""
