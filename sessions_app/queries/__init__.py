"""Every read, as named querysets: the API, the pages and the admin ask here and nowhere else."""
