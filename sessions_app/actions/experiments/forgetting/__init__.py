"""Acts of forgetting: their own rows, and the rows and files that they change."""
