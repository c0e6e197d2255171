"""Data that ships with graphneg."""
