"""Transforms: Cypher queries that propose edits. One file each, shipped or a user's own."""

from graphneg.transforms.registry import Transform, load_transforms, parse_transform

__all__ = ["Transform", "load_transforms", "parse_transform"]
