"""The ``surface`` decoder: apply graph edits to the words of the original utterance.

A model that generates text from the whole graph also changes words that no edit touched. This decoder keeps
the original text and changes only the words that express the edited nodes. Then it makes the changes that
English grammar requires around these words: do-support, tense, agreement, inflection, articles and word
order. It supports English only. If it cannot express an edit, it returns a reason instead of a text.

An utterance passes through these steps. The name beside each step is the module that performs it::

    text and graph before the edits
      |  analysis.alignment       tokenize, tag, and align nodes with tokens
      v
    SentenceDraft                 the tokens that will be edited, with the graph
      |  decoder.realise          pass each edit to its operation, in a fixed order
      v
    operation                     one function for each kind of edit
      |  analysis                 which verb, phrase or word expresses the node?
      |  refusals                 is there a reason not to make this change?  -> reason
      |  inflection, agreement    which form does the new word need?
      v
    Draft.finish                  spacing, articles, capitals  -> text

For example, an edit adds ``:polarity -`` to node 0 of "He saw some birds." with the graph
``(s / see-01 :ARG0 (h / he) :ARG1 (b / bird :quant (s2 / some)))``:

1. `analysis` aligns ``see-01`` with *saw*. The verb group of *saw* is finite, and its subject is *he*.
2. `decoder` finds that the edit adds a polarity, and calls `operations.negation.negate`.
3. `refusals` finds no reason against negating the clause. (It would refuse to negate "Thank you", an idiom
   such as "You're not kidding", or a clause that is already negative, such as "Nobody saw it".)
4. `operations.negation` replaces *some* by *any*, replaces *saw* by its plain form *see*, which `inflection`
   finds, and inserts *did* and *not* before *see*.
5. `Draft.finish` joins the tokens into the text "He did not see any birds."

The modules, from the bottom to the top:

- `inflection` inflects single words: *see* -> *saw*.
- `draft` represents the edited utterance as a list of tokens, and joins the tokens into a text.
- `analysis` finds the words, the verb group or the phrase that expresses a node.
- `agreement` finds subjects, and makes verbs and pronouns agree with them.
- `refusal_rules`, `idioms` and `valency` contain knowledge about words that excludes an edit.
- `refusals` contains the conditions under which an edit is not expressed in words.
- `operations` contains one module for each kind of edit.
- `decoder` applies the edits to an utterance in the right order.
"""

from __future__ import annotations

from graphneg.decoders.surface.decoder import SurfaceDecoder

__all__ = ["SurfaceDecoder"]
