"""AMR graphs: PENMAN notation, well-formedness, alignment with words, and graphs seen through edits."""
