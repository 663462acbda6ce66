"""What a sentence takes from those before it: pronouns, omitted parts, corrections."""
