"""Questions and requests, and the statements that answer them."""
