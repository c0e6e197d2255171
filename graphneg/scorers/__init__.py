"""Score dialogues and responses.

The package has scorers of coherence (DEAM) and of contradictions (Sato et al. 2024), and chooses negatives by
score.
"""
