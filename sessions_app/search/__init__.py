"""Knowledge search over the database."""
