"""Sentences and statements: phrases, clauses and what they say."""
