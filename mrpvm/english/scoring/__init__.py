"""How likely a sentence answers a question, by learned weights."""
