"""What the model gets to see, and what people get to read."""
