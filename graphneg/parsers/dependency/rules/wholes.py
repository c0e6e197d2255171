"""Nouns that say what they are of another: a part, a kind, an amount, something that holds it."""

from __future__ import annotations

from graphneg.parsers.dependency.rules.word_sets import word_set

PARTS = word_set("""
    part middle center centre heart edge bottom half surface corner tip rest top side trunk seat
    rear front lens root stem sprig sprout shoot fold roof wheel saddle bank hem sleeve lid rim peel
    crust core
""")
KINDS = word_set("kind sort type")
AMOUNTS = word_set("sheet deal peal hint bit pair couple touch trace")
VESSELS = word_set("""
    bottle glass cup bowl box can bucket bag jar plate basket pot tank drop droplet bunch pile stack
    heap clove ring lock ridge puddle slab loaf block cloud herd flock crowd group team band row
    line pack bundle bouquet
""")
