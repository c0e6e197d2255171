"""The command line: what its options are, what it prints, and how it ends."""
