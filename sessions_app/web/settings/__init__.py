"""The pages of settings, API keys and plugins."""
