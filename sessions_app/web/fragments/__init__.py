"""What each fragment shows: a page and its live refreshes are rendered from the same contexts."""
