"""Generate negatives by blanking spans of a text and filling them with a language model.

The package contains the generator ``mask-and-fill``. For example, it may replace two words::

    correct     I bought the red boat in May.
    blanked     I bought the [word] boat in [word].
    negative    I bought the old boat in France.
"""
