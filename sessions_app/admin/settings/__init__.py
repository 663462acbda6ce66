"""Projects, keys and plugins in the admin."""
