"""The loaders that ship with graphneg, one module per corpus or resource."""
