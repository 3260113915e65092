"""Public data sets: which there are, fetching them on request, and describing any file that is read."""
