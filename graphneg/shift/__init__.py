"""Build and use the shift graph, which counts how the topic shifts from turns to their replies.

The terms are those of CAPT (Ou et al. 2022, section 3.1). A *post* is a turn that has a reply. The *focus* is
the keyword of the post that the reply takes up. The *perspective* is the keyword to which the reply shifts
the topic. For example, the post "I had a coffee." and the reply "Was the cake good?" give an edge from the
focus ``coffee`` to the perspective ``cake``.
"""
