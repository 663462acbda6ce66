"""Acts of forgetting: their rows, and the rows and files that they change."""
