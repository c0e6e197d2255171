"""The ``dependency`` parser: spaCy's dependencies to AMR by rules, tables and small learned parts."""
