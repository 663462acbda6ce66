"""The built-in plugins, one package each, grouped by type."""
