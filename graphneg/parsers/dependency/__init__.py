"""The ``dependency`` parser: turn dependency trees into AMR with rules and small trained models."""
