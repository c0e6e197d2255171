"""The ``dependency`` parser: turn texts into graphs whose nodes have exact token spans.

The parser works in four steps. First spaCy parses the dependencies of each text; a long text is cut into
several parts. Then the rules turn the dependencies into a graph that need not be well-formed (a draft), and
the trained models revise the draft. Finally the drafts of all parts are joined into one well-formed graph.
Every text gets a graph, even if it is not a sentence.

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
    join_contractions,
    load_model,
    model_version,
    pieces,
    read_words,
    readable,
    resolve_model,
)

RULES = "8"
"""Version of the rules and tables. Increase it with every change that could change the graph of any text,
because stores reuse the graphs of the same version.
"""


class DependencyParser:
    """Parse English texts on the CPU, with rules, tables and small trained models over spaCy's dependencies.

    A text in another language also gets a graph, in which foreign words become concepts.
    """

    name = "dependency"
    parallel = True

    def __init__(self, model: str | None = None, revisers: Sequence[Reviser] | None = None) -> None:
        """Initialize the parser. The spaCy model is loaded when the first text is parsed.

        Raises `ParserError` if spaCy or the model is not installed.

        Args:
            model: Name or directory of a spaCy model; ``None`` takes the smallest installed English model.
            revisers: Models that revise each draft, in order; ``None`` for the trained models in the package.
        """
        self._model = resolve_model(model)
        self._revisers = learned_revisers() if revisers is None else tuple(revisers)
        learned = "".join(f"+{reviser.version}" for reviser in self._revisers)
        self.version = f"{RULES}{learned}+{model_version(self._model)}"

    def parse_batch(self, texts: Sequence[str]) -> list[Parsed]:
        """Parse texts.

        Args:
            texts: The texts to parse.

        Returns:
            One result per text, in the order of the texts. Warnings report unreadable characters, long texts
            that were cut into parts, and rules that failed.
        """
        return [_parsed(text, drafts) for text, drafts in zip(texts, self.drafts(texts), strict=True)]

    def drafts(self, texts: Sequence[str]) -> list[list[GraphDraft]]:
        """Return the unfinished graphs (drafts) of each text, revised but not yet joined into one graph.

        Args:
            texts: The texts to parse.

        Returns:
            For each text, a list with one draft. The list is empty for a text without words, and has several
            drafts for a text that is too long to be parsed at once.
        """
        drafts: list[list[GraphDraft]] = [[] for _ in texts]
        cuts = [
            (n, offset, *join_contractions(piece))
            for n, text in enumerate(texts)
            for offset, piece in pieces(readable(text))
            if piece and not piece.isspace()
        ]
        docs = load_model(self._model).pipe((piece for _, _, piece, _ in cuts), batch_size=128)
        for (n, offset, _, places), doc in zip(cuts, docs, strict=True):
            drafts[n].append(self._revised_draft(texts[n], read_words(doc, offset, places)))
        return drafts

    def _revised_draft(self, text: str, words: Sequence[Word]) -> GraphDraft:
        try:
            return revise(write_draft(text, words), self._revisers)
        # A single unusual sentence must not end a run over a corpus. If a rule or model fails, return a graph
        # that consists of the first word, with a warning that names the error.
        except Exception as fault:
            warning = f"fault: {type(fault).__name__} in a rule of the parser; the graph is a single word"
            draft = GraphDraft(text, words, warnings=[warning])
            _write_word(draft)
            return draft


def _parsed(text: str, drafts: Sequence[GraphDraft]) -> Parsed:
    """Join the graphs of the parts of a text into one graph, and collect the warnings about the text."""
    if not drafts:
        return WORDLESS
    warnings = [warning for draft in drafts for warning in draft.warnings]
    graph = assemble(drafts, text)
    if readable(text) != text:
        warnings.append("characters: unprintable characters were read as spaces")
    if len(drafts) > 1:
        warnings.append(f"long: {len(text):,} characters were parsed in {len(drafts):,} separate pieces")
    return Parsed(graph, tuple(warnings))


def write_draft(text: str, words: Sequence[Word], lexicon: ParserLexicon | None = None) -> GraphDraft:
    """Apply all rules to a text, or to one part of a long text.

    Args:
        text: The whole text; the character offsets of the words refer to it.
        words: The words to which the rules are applied, with their dependencies. Errors in the dependency
            tree are corrected in place.
        lexicon: PropBank frames and corpus counts; ``None`` uses the lexicon that graphneg ships.

    Returns:
        The graph under construction, before the trained models revise it.
    """
    state = RuleState(GraphDraft(text, words), words, lexicon or load_lexicon())
    # Apply the rules in this order: rules for expressions of several words before rules for single words, and
    # rules for concepts before rules for arcs. Coreference comes last, when all nodes exist.
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
    entities.link_measured_subject(state)
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
    """Set the top of each sentence: the root's node or, if the root has no node, the first concept."""
    draft = state.draft
    for root in roots:
        node = state.outer_of(root)
        if node is not None and draft.nodes[node].concept is not None:
            draft.tops.setdefault(root.sentence, node)
    # The root may have no node, for example if it is a punctuation mark. Then take the first concept as the
    # top.
    for k, node in enumerate(draft.nodes):
        if node.concept is not None and not node.deleted:
            draft.tops.setdefault(node.sentence, k)
    if not draft.tops and state.words:
        _write_word(draft)


def _write_word(draft: GraphDraft) -> None:
    """Make a graph with one node, the first word of the text, so that a text without concepts has a graph."""
    word = next((word for word in draft.words if word.text.strip()), draft.words[0])
    draft.tops[word.sentence] = draft.concept(word.text.strip() or "amr-empty", word.i, "word")
