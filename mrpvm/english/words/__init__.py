"""The words of English: tokens, word classes and content words."""
