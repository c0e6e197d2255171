"""The generator ``counterfactual``: what would have been replied, had the reply moved elsewhere.

From the observed reply and a substitute of its perspective, by the Gumbel-Max model of
`graphneg.counterfactual` (CAPT, Ou et al., 2022). With substitutes of the shift graph the replies
are new right ones; with perspectives of unrelated contexts they are wrong ones.
"""

from __future__ import annotations

from graphneg.generators.counterfactual.generator import CounterfactualGenerator
from graphneg.generators.counterfactual.making import counterfactual
from graphneg.generators.counterfactual.purpose import Augmentation, Purpose, UnrelatedPerspectives
from graphneg.generators.counterfactual.training import exchanges_of, train_replies

__all__ = [
    "Augmentation",
    "CounterfactualGenerator",
    "Purpose",
    "UnrelatedPerspectives",
    "counterfactual",
    "exchanges_of",
    "train_replies",
]
