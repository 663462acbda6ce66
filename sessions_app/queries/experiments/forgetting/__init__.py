"""The texts and rows that an act of forgetting looks for, and the tables that it searches."""
