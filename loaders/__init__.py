"""The loaders that ship with graphneg. Each module loads one corpus, resource or file format."""
