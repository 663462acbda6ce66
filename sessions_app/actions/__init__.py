"""Every write to the database: one function is one transaction with its events."""
