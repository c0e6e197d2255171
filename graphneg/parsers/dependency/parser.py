"""The ``dependency`` parser: texts to graphs with exact token spans.

Each text is cut into pieces, and spaCy parses their dependencies. The rules write a draft of each piece, and
the trained models revise it. The assembler joins the drafts into one well-formed graph. Every text gets a
graph, even if it is not a sentence.

>>> from graphneg.amr.penman import format_graph
>>> print(format_graph(DependencyParser(revisers=()).parse_batch(["Birds sing."])[0].graph))
(s / sing-01
   :ARG0 (b / bird))
"""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.parsers.base import WORDLESS, Parsed
from graphneg.parsers.dependency.draft import GraphDraft, assemble
from graphneg.parsers.dependency.lexicon import ParserLexicon, load_lexicon
from graphneg.parsers.dependency.revision import Reviser, learned_revisers, revise
from graphneg.parsers.dependency.rules import clauses, concepts, copulas, entities, linking, roles, trees
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.text import (
    Word,
    load_model,
    model_version,
    pieces,
    read_words,
    readable,
    resolve_model,
    tightened,
)

RULES = "8"
"""Version of the rules and tables. Increase it with every change that may change a graph."""


class DependencyParser:
    """Parse English texts with rules, tables and small trained models on spaCy's dependencies, on the CPU.

    A text in another language gets a graph of its words.
    """

    name = "dependency"
    parallel = True

    def __init__(self, model: str | None = None, revisers: Sequence[Reviser] | None = None) -> None:
        """Initialize the parser; the spaCy model is loaded with the first text.

        A `ParserError` says if spaCy or the model is not installed.

        Args:
            model: Name or directory of a spaCy model; ``None`` finds an installed English one, small before
                large.
            revisers: Models that revise each draft, in order; ``None`` takes those of the package.
        """
        self._model = resolve_model(model)
        self._revisers = learned_revisers() if revisers is None else tuple(revisers)
        learned = "".join(f"+{reviser.version}" for reviser in self._revisers)
        self.version = f"{RULES}{learned}+{model_version(self._model)}"

    def parse_batch(self, texts: Sequence[str]) -> list[Parsed]:
        """Parse texts.

        Args:
            texts: The texts.

        Returns:
            One result per text, in order, with warnings about unreadable characters, long texts and failed
            rules.
        """
        return [_parsed(text, drafts) for text, drafts in zip(texts, self.drafts(texts), strict=True)]

    def drafts(self, texts: Sequence[str]) -> list[list[GraphDraft]]:
        """Return the revised drafts of each text, before they are assembled.

        Args:
            texts: The texts.

        Returns:
            Per text one draft per piece; none for a text without words.
        """
        drafts: list[list[GraphDraft]] = [[] for _ in texts]
        cuts = [
            (n, offset, *tightened(piece))
            for n, text in enumerate(texts)
            for offset, piece in pieces(readable(text))
            if piece and not piece.isspace()
        ]
        docs = load_model(self._model).pipe((piece for _, _, piece, _ in cuts), batch_size=128)
        for (n, offset, _, places), doc in zip(cuts, docs, strict=True):
            drafts[n].append(self._draft(texts[n], read_words(doc, offset, places)))
        return drafts

    def _draft(self, text: str, words: Sequence[Word]) -> GraphDraft:
        """Write and revise the draft of a piece."""
        try:
            return revise(write_draft(text, words), self._revisers)
        # One odd sentence must not end a run over a corpus. The piece is reduced to a word, and a warning
        # reports the failed rule.
        except Exception as fault:
            warning = f"fault: {type(fault).__name__} in a rule of the parser; only a word is left"
            draft = GraphDraft(text, words, warnings=[warning])
            _write_word(draft)
            return draft


def _parsed(text: str, drafts: Sequence[GraphDraft]) -> Parsed:
    """Assemble the drafts of a text and collect their warnings."""
    if not drafts:
        return WORDLESS
    warnings = [warning for draft in drafts for warning in draft.warnings]
    graph = assemble(drafts, text)
    if readable(text) != text:
        warnings.append("characters: what is no text was read as spaces")
    if len(drafts) > 1:
        warnings.append(f"long: {len(text):,} characters were read in {len(drafts):,} pieces, each by itself")
    return Parsed(graph, tuple(warnings))


def write_draft(text: str, words: Sequence[Word], lexicon: ParserLexicon | None = None) -> GraphDraft:
    """Apply the rules to a piece of text, in their order.

    Args:
        text: The whole text, in which the words count characters.
        words: The words of the piece, with their dependencies; the tree is corrected in place.
        lexicon: The lexicon; that of the package by default.

    Returns:
        The draft.
    """
    state = RuleState(GraphDraft(text, words), words, lexicon or load_lexicon())
    # The order matters: spans of several words come before single words, concepts before the arcs between
    # them, and coreference comes last, when all nodes exist.
    trees.correct_trees(words)
    entities.write_entities(state)
    entities.write_multiwords(state)
    copulas.resolve_copulas(state)
    copulas.resolve_futures(state)
    concepts.resolve_light_verbs(state)
    clauses.write_question_words(state)
    concepts.write_concepts(state)
    clauses.write_modals(state)
    entities.write_degrees(state)
    clauses.write_negation(state)
    entities.write_nominals(state)
    groups = linking.write_coordination(state)
    roles.write_roles(state)
    clauses.write_whys(state)
    linking.write_shared(state, groups)
    entities.share_measured(state)
    roots = [word for word in words if word.head == word.i]
    for root in roots:
        clauses.write_moods(state, root)
        linking.write_openers(state, root)
    _write_tops(state, linking.join_speech(state, roots))
    linking.merge_speakers(state)
    linking.merge_reflexives(state)
    linking.merge_nouns(state)
    linking.merge_pronouns(state)
    return state.draft


def _write_tops(state: RuleState, roots: Sequence[Word]) -> None:
    """Set the top of each sentence: the node over its root, or else its first node."""
    draft = state.draft
    for root in roots:
        node = state.outer_of(root)
        if node is not None and draft.nodes[node].concept is not None:
            draft.tops.setdefault(root.sentence, node)
    # The root may have no node, for example if it is a punctuation mark.
    for k, node in enumerate(draft.nodes):
        if node.concept is not None and not node.gone:
            draft.tops.setdefault(node.sentence, k)
    if not draft.tops and state.words:
        _write_word(draft)


def _write_word(draft: GraphDraft) -> None:
    """Make one word the whole graph, the minimum for a piece of text."""
    word = next((word for word in draft.words if word.text.strip()), draft.words[0])
    draft.tops[word.sentence] = draft.concept(word.text.strip() or "amr-empty", word.i, "word")
