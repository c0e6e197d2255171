"""Score dialogues and responses, and choose negatives by their scores.

The package has a scorer of the coherence of dialogues (DEAM, Ghazarian et al. 2022), a detector of
contradictions, and tools to collect contradictory responses (Sato et al. 2024).
"""
