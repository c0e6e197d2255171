"""Training of the learned parts: for those who make the data files, not for parsing."""
