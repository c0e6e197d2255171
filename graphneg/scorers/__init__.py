"""Scorers of dialogues: coherence (DEAM), and contradictions (Sato et al. 2024)."""
