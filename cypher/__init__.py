"""The Cypher statements that graphneg runs, one per file."""
