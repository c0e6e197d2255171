"""The ``dependency`` parser: spaCy's dependency trees to AMR by rules, tables and small trained models."""
