"""The ``dependency`` parser, which turns dependency trees into AMR by rules and small trained models."""
