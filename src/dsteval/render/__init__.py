"""Results as people read them: tables in the terminal, CSV, Markdown, LaTeX."""
