"""A recorded turn, read from rows and run again as it was."""
