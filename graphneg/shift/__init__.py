"""Build and use the shift graph: edges from what replies attend to, to what they move to.

The terms are those of CAPT (Ou et al. 2022, section 3.1). A *focus* is the keyword of a post that a reply
attends to. A *perspective* is the keyword of the reply that it moves to. For "I had a coffee." and the reply
"Was the cake good?" the edge leads from ``coffee`` to ``cake``.
"""
