"""The shift graph: from the keyword that a reply attends to, to the keyword that it moves to.

Its words are those of CAPT (counterfactual data augmentation via perspective transition, section
3.1): a *focus* is a keyword of the post, a *reply perspective* a keyword of the reply.
"""
