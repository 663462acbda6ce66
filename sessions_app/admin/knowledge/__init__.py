"""Knowledge bases in the admin."""
