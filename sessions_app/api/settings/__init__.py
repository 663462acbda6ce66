"""Endpoints of model roles and plugins."""
