"""The pages of sessions: views, and the context of each fragment."""
