"""Rules that turn dependency trees into graphs; each module covers a few linguistic phenomena."""
