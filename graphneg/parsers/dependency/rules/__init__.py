"""The rules that turn dependency trees into drafts; each module covers a few linguistic phenomena."""
