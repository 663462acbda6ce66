"""Knowledge bases, layers and units."""
