"""Find the words, the verb group or the phrase that expresses a node of the graph.

Edits refer to nodes of an AMR graph, but the rules of grammar are about words. This package finds the words
for a node:

- ``alignment`` tokenizes and tags a text, and finds the tokens that express each node.
- ``verb_groups`` finds groups of verbs that belong together, with their subjects and negations, and finds the
  bounds of noun phrases.
- ``sentence`` contains `SentenceDraft`, which represents the text being edited together with its graph.
- ``phrases`` finds the contiguous words that express a subtree of the graph.

For example, in "He was very happy." with the graph ``(h / happy-01 :ARG0 (h2 / he) :degree (v / very))``, the
token of node 0 is *happy*, the verb group of the node is *was* with the subject *he*, and the phrase of the
node is "very happy".
"""
