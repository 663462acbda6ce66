"""Sessions and what they hold."""
