"""Two turns side by side."""
