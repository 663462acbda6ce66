"""Projects, model roles and plugin statistics."""
