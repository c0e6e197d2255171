"""The loaders that come with graphneg: one module a corpus or resource."""
