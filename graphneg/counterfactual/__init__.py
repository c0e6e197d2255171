"""Counterfactual replies: what would have been said, had the reply taken another perspective.

CAPT (Ou et al., 2022), section 3.2: a structural causal model whose only other cause is Gumbel noise,
which the observed reply tells of.
"""

from __future__ import annotations

from graphneg.counterfactual.decoding import Answer, Question, counterfactuals
from graphneg.counterfactual.examples import examples_for
from graphneg.counterfactual.exchange import Exchange, example, prompt, reply

__all__ = ["Answer", "Exchange", "Question", "counterfactuals", "example", "examples_for", "prompt", "reply"]
