"""Files that people have, read as text: Markdown, plain text, HTML, CSV and PDF."""
