"""Every read, as named functions: the API, the pages and the admin read the database only through them."""
