"""Skills, personas, agents and tools, as a session keeps them."""
