"""JSON schemas of the files that graphneg reads."""
