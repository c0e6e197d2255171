"""Writes the draft of a piece of text: the order in which the rules run."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.lexicon import Lexicon, load_lexicon
from graphneg.parsers.dependency.rules.clauses import write_modals, write_moods
from graphneg.parsers.dependency.rules.concepts import write_concepts
from graphneg.parsers.dependency.rules.coordination import (
    write_consequence,
    write_coordination,
    write_openers,
)
from graphneg.parsers.dependency.rules.copulas import resolve_copulas, resolve_futures
from graphneg.parsers.dependency.rules.degrees import share_measured, write_degrees
from graphneg.parsers.dependency.rules.entities import write_entities
from graphneg.parsers.dependency.rules.light_verbs import resolve_light_verbs
from graphneg.parsers.dependency.rules.mending import mend
from graphneg.parsers.dependency.rules.multiwords import write_multiwords
from graphneg.parsers.dependency.rules.negation import write_negation
from graphneg.parsers.dependency.rules.nominals import write_nominals
from graphneg.parsers.dependency.rules.questions import write_question_words, write_whys
from graphneg.parsers.dependency.rules.reference import (
    merge_nouns,
    merge_pronouns,
    merge_reflexives,
    merge_speakers,
    write_shared,
)
from graphneg.parsers.dependency.rules.roles import write_roles
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.rules.speech import join_speech
from graphneg.parsers.dependency.words import Word


def write_draft(text: str, words: Sequence[Word], lexicon: Lexicon | None = None) -> Draft:
    """The draft of a piece of text; ``text`` is the whole text that the words count characters in."""
    sketch = Sketch(Draft(text, words), words, lexicon or load_lexicon())
    mend(words)
    write_entities(sketch)
    write_multiwords(sketch)
    resolve_copulas(sketch)
    resolve_futures(sketch)
    resolve_light_verbs(sketch)
    write_question_words(sketch)
    write_concepts(sketch)
    write_modals(sketch)
    write_degrees(sketch)
    write_negation(sketch)
    write_nominals(sketch)
    written = write_coordination(sketch)
    write_roles(sketch)
    write_whys(sketch)
    write_shared(sketch, written)
    share_measured(sketch)
    roots = [word for word in words if word.head == word.i]
    for root in roots:
        write_moods(sketch, root)
        write_consequence(sketch, root)
        write_openers(sketch, root)
    _write_tops(sketch, join_speech(sketch, roots))
    merge_speakers(sketch)
    merge_reflexives(sketch)
    merge_nouns(sketch)
    merge_pronouns(sketch)
    return sketch.draft


def _write_tops(sketch: Sketch, roots: Sequence[Word]) -> None:
    """The top of each sentence is what stands over its root; without one, its first node."""
    draft = sketch.draft
    for root in roots:
        speaker = sketch.speaker(root.i)
        if speaker in sketch.outer and draft.nodes[sketch.outer[speaker]].concept is not None:
            draft.tops.setdefault(root.sentence, sketch.outer[speaker])
    for k, node in enumerate(draft.nodes):
        if node.concept is not None and not node.gone:
            draft.tops.setdefault(node.sentence, k)
    if not draft.tops and sketch.words:
        write_word(draft)


def write_word(draft: Draft) -> None:
    """One of the words as the whole graph: the least that a piece of text can have."""
    word = next((one for one in draft.words if one.text.strip()), draft.words[0])
    draft.tops[word.sentence] = draft.concept(word.text.strip() or "amr-empty", word.i, "word")
