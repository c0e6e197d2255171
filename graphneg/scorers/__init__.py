"""Score dialogues and responses, and choose negatives by their scores.

The package contains a model that scores the coherence of dialogues (DEAM, Ghazarian et al. 2022), a model
that detects contradictions, and functions that collect contradictory responses (Sato et al. 2024).
"""
