"""The one bridge to language models [L-6]."""
