"""Running experiments beside turns."""
