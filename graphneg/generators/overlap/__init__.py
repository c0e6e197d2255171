"""``overlap``: sentences that share words with the context and are set in another scene."""
