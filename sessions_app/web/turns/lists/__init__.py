"""The lists of turns: filters, overview, alerts and the review queue."""
