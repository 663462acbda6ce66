"""The pages of knowledge bases and units."""
