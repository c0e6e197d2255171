"""The Cypher statements that graphneg runs, one in each file: schema, loading, reading, editing, transforms."""
