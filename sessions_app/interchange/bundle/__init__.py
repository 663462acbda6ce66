"""A session with everything that its turns need, as one file that can be checked."""
