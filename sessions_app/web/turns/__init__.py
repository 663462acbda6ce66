"""The pages of turns: views, and the context of each fragment."""
