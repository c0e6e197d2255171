"""The generator ``mask-and-fill``: texts of the store with blanks that a language model fills anew."""
