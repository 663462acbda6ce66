"""Turns and ratings in the admin."""
