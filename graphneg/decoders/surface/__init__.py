"""The ``surface`` decoder: realise graph edits on the words of the original utterance.

Generating text from the whole graph changes words that no edit touched. This decoder keeps the original text
and changes only the words that express the edited nodes. It handles what English grammar requires around
them: do-support, tense, agreement, inflection, articles and word order. It supports English only. An edit
that it cannot express is refused with a reason.

Example: the text "She goes home." with an edit that adds ``:time yesterday`` becomes "She went home
yesterday."

The modules, from small to large units of text:

- ``forms``: inflected forms of single words
- ``draft``: tokens under edit, spacing, capitals and articles
- ``clauses``: verb groups and noun phrases
- ``sentence``: the words, verb group or phrase of a graph node
- ``idioms``, ``negation_scope``: what must not be changed, and what a negation changes besides *not*
- ``agreement``, ``lexical``, ``polarity``, ``mood``, ``tense``, ``grafts``, ``subtrees``: one kind of edit
    each
- ``decoder``: the order of the edits of an utterance
"""

from __future__ import annotations

from graphneg.decoders.surface.decoder import SurfaceDecoder

__all__ = ["SurfaceDecoder"]
