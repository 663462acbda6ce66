"""What an act of forgetting looks for, and in which tables."""
