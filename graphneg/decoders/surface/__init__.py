"""The ``surface`` decoder: realise graph edits on the words of the original utterance.

A model that generates text from the whole graph also changes words that no edit touched. This decoder keeps
the original text and changes only the words that express the edited nodes. It then makes the changes that
English grammar requires around them: do-support, tense, agreement, inflection, articles and word order. It
supports English only. If it cannot express an edit, it returns a reason instead of a text.

Example: the text "She goes home." with an edit that adds ``:time yesterday`` becomes "She went home
yesterday."

The modules, from small to large units of text:

- ``forms`` inflects single words.
- ``draft`` contains the tokens that are edited, and restores spacing, capitals and articles.
- ``clauses`` finds verb groups and noun phrases.
- ``sentence`` finds the words, the verb group or the phrase that express a graph node.
- ``idioms`` and ``negation_scope`` find words that must not be changed, and words that change together with a
  negation.
- ``agreement``, ``lexical``, ``polarity``, ``mood``, ``tense``, ``grafts`` and ``subtrees`` each realise one
  kind of edit.
- ``decoder`` applies the edits of an utterance in the right order.
"""

from __future__ import annotations

from graphneg.decoders.surface.decoder import SurfaceDecoder

__all__ = ["SurfaceDecoder"]
