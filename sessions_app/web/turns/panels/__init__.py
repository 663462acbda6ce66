"""The panels of the turn page, each with the context of its fragment."""
