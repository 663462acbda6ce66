"""From a file to a source's units: read, cut into chunks, normalised, built into a tree."""
