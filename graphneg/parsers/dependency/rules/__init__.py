"""Rules that turn dependency trees into graphs. Each module covers a few linguistic phenomena."""
