"""What the pages of the admin share."""
