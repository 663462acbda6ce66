"""Files that people have, read as text or Markdown."""
