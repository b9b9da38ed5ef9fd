"""What a person sees in a terminal: progress, tables, messages and exit statuses."""
