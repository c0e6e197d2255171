"""The Cypher that graphneg runs, one statement a file: schema, loading, reading, editing, transforms."""
