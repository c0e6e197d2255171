"""The Cypher statements that graphneg runs, one in each file."""
