"""The lexical knowledge of the dependency parser: frames, corpus counts, word classes and expressions.

`load_lexicon` returns a `ParserLexicon` with the PropBank frames and with counts from human-annotated
graphs. The other functions read the other tables. All tables are files in ``data/``:

- ``concepts.tsv``: how often each word had each concept in annotated graphs
- ``roles.tsv``: how often each kind of argument had each role in annotated graphs
- ``word_classes.tsv``: classes of words (`word_class`)
- ``word_maps.tsv``: dictionaries from words to values (`word_map`, `word_pairs`)
- ``expressions.tsv``: multiword expressions with their concepts (`expressions`)

>>> load_lexicon().written_concepts("tired", "j")[:1], word_map("pronoun")["me"]
(['tire-01'], 'i')
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files

from graphneg.english.propbank import Counts, FrameTable, load_frames

DELETED = "-"
"""The entry in the tables for a word that has no node of its own, such as *the*."""


@dataclass(slots=True)
class ParserLexicon(FrameTable):
    """PropBank frames, and counts of concepts and roles in annotated graphs.

    Attributes:
        concepts: Counts of concepts, keyed by lemma and word class. The word class is the one that
            `graphneg.parsers.dependency.text.class_of` returns.
        roles: Counts of roles. Each key is a triple of a letter, a name and a signature. The letter gives the
            type of the name: ``F`` for the frame of the head, ``W`` for the lemma of the dependent, or ``S``
            for the word class of the head. The signature is the name of the relation, such as ``nsubj`` or
            ``prep_to``.
        totals: Counts of each concept, summed over all words.
    """

    concepts: dict[tuple[str, str], Counts] = field(default_factory=lambda: defaultdict(Counter[str]))
    roles: dict[tuple[str, str, str], Counts] = field(default_factory=lambda: defaultdict(Counter[str]))
    totals: Counts = field(default_factory=Counter[str])

    def add_concepts(self, rows: Iterable[Sequence[str]]) -> None:
        """Add the counts in rows of ``concepts.tsv``.

        Args:
            rows: Rows with the cells lemma, word class, concept and count.
        """
        for lemma, kind, concept, count in rows:
            self.concepts[lemma, kind][concept] += int(count)
            if concept != DELETED:
                self.totals[concept] += int(count)

    def add_roles(self, rows: Iterable[Sequence[str]]) -> None:
        """Add counts of roles from the file ``roles.tsv``.

        Args:
            rows: Rows of the file, such as ``("F", "want-01", "nsubj", "ARG0", "36")``: in 36 cases, the
                subject of *want* was the ARG0 of want-01. The first three cells are a key of ``roles``.
        """
        for kind, key, form, role, count in rows:
            self.roles[kind, key, form][role] += int(count)

    def known(self, lemma: str, kind: str) -> Counts:
        """Return how often a word had each concept in annotated graphs.

        Args:
            lemma: Lemma of the word.
            kind: Word class of the word.

        Returns:
            Counts, keyed by concept. Concepts that need several words (``go-on-25``) or that only structure
            the graph (``monetary-quantity``) are left out.
        """
        counts = self.concepts.get((lemma, kind), {})
        return {concept: count for concept, count in counts.items() if _is_single_word(concept, lemma)}

    def best_concept(self, lemma: str, kind: str) -> str | None:
        """Return the most frequent concept of a word in annotated graphs.

        Args:
            lemma: Lemma of the word.
            kind: Word class of the word.

        Returns:
            The concept; `DELETED` if the word most often had no node; ``None`` if the word is unknown.
        """
        known = self.known(lemma, kind)
        return max(known, key=known.__getitem__, default=None)

    def written_concepts(self, lemma: str, kind: str) -> list[str]:
        """Return the concepts of a word in annotated graphs, most frequent first.

        Args:
            lemma: Lemma of the word.
            kind: Word class of the word.

        Returns:
            The concepts, without `DELETED`, which stands for cases in which the word has no node.
        """
        known = self.known(lemma, kind)
        known.pop(DELETED, None)
        return sorted(known, key=lambda concept: -known[concept])

    def role_scores(self, head: str, kind: str, form: str, dependent: str) -> dict[str, float]:
        """Score the possible roles of a dependent.

        The score begins with the general probability of the role: how often the dependent of any verb (or
        noun, or adjective) has this role for this relation. It is multiplied by three ratios. They show
        whether the role is more frequent than usual with the head's frame, with the dependent's lemma, and in
        PropBank's examples of the frame. The ratios are smoothed.

        Args:
            head: Concept of the head.
            kind: Word class of the head.
            form: Signature of the dependency, such as ``nsubj`` or ``prep_to``.
            dependent: Lemma of the dependent.

        Returns:
            A positive score for each role that occurred with the word class, the frame or the lemma.
        """
        general = self.roles.get(("S", kind, form), {})
        by_head = self.roles.get(("F", head, form), {})
        by_word = self.roles.get(("W", dependent, form), {})
        entry = self.frames.get(head)
        shown = entry.seen.get(form, {}) if entry is not None else {}
        in_frame = {f"ARG{role}": count for role, count in shown.items() if role != "M"}
        # A ratio from few observations is unreliable, so it should be near 1. Therefore add invented
        # observations with the general distribution of roles: two of them for the head and for the dependent,
        # and one for PropBank's examples (additive smoothing).
        total = sum(general.values()) + 5.0
        n_head, n_word, n_frame = sum(by_head.values()), sum(by_word.values()), sum(in_frame.values())
        scores: dict[str, float] = {}
        for role in {**general, **by_head, **by_word, **in_frame}:
            base = (general.get(role, 0) + 0.2) / total
            head_ratio = (by_head.get(role, 0) + 2 * base) / (n_head + 2) / base
            word_ratio = (by_word.get(role, 0) + 2 * base) / (n_word + 2) / base
            frame_ratio = (in_frame.get(role, 0) + base) / (n_frame + 1) / base if n_frame else 1.0
            scores[role] = base * head_ratio * word_ratio * frame_ratio
        return scores


@lru_cache(maxsize=65536)
def _is_single_word(concept: str, lemma: str) -> bool:
    """Return whether a single word can express a concept. No word expresses ``monetary-quantity``."""
    if concept in {DELETED, "amr-unknown", "no-one"}:
        return True
    # Concepts with a hyphen, such as "go-on-25", need several words, unless the word itself has the hyphen:
    # "grown-up".
    stem = concept.rpartition("-")[0] if concept[-1].isdigit() else concept
    return "-" not in stem or stem == lemma


@cache
def load_lexicon() -> ParserLexicon:
    """Return the lexicon of the dependency parser, which is read from the tables in the package."""
    shipped = load_frames()
    lexicon = ParserLexicon(dict(shipped.frames), shipped.aliases)
    lexicon.add_concepts(rows("concepts"))
    lexicon.add_roles(rows("roles"))
    return lexicon


@cache
def word_class(name: str) -> frozenset[str]:
    """Return the words of one class in ``word_classes.tsv``.

    >>> "say" in word_class("speech"), sorted(word_class("kind"))
    (True, ['kind', 'sort', 'type'])

    Args:
        name: Name of a class in ``word_classes.tsv``.

    Returns:
        The words, in lower case.
    """
    return frozenset(dict(rows("word_classes"))[name].split())


@cache
def word_map(name: str) -> dict[str, str]:
    """Return one of the maps in ``word_maps.tsv``, as a dictionary from words to values.

    >>> word_map("pronoun")["me"], word_map("mark-role")["unless"], word_map("relative")["aunt"]
    ('i', 'condition', 'aunt')

    Args:
        name: Name of a map in ``word_maps.tsv``, such as ``pronoun``.

    Returns:
        The values, keyed by word.
    """
    entries = [(value, words.split()) for known, value, words in rows("word_maps") if known == name]
    return {word: word if value == "=" else value for value, words in entries for word in words}


@cache
def word_pairs(name: str) -> dict[str, tuple[str, str]]:
    """Return a dictionary from words to pairs of a concept and a role.

    >>> word_pairs("modal")["must"]
    ('obligate-01', 'ARG2')

    Args:
        name: Name of a map in ``word_maps.tsv`` whose values are a concept and a role.

    Returns:
        For each word, its concept and the role that links the concept to its argument.
    """
    pairs = ((word, value.split()) for word, value in word_map(name).items())
    return {word: (concept, role) for word, (concept, role) in pairs}


@cache
def expressions(kind: str = "") -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Return the multiword expressions of a kind, grouped by their first word.

    >>> expressions()["of"], expressions("preposition")["next"]
    ([(('of', 'course'), 'of-course')], [(('next', 'to'), 'next-to')])

    Args:
        kind: ``preposition``, or the empty string for the expressions without a kind.

    Returns:
        Lists of expressions, keyed by their first word. An expression is a pair of its words and its concept.
        Longer expressions come first. The concept `DELETED` means that the expression gets no node.
    """
    known: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for words, concept, *kinds in rows("expressions"):
        if kinds == ([kind] if kind else []):
            forms = tuple(words.split())
            known.setdefault(forms[0], []).append((forms, concept))
    # "a lot of" must be tried before "a lot", so longer expressions come first.
    return {first: sorted(entries, key=lambda entry: -len(entry[0])) for first, entries in known.items()}


def rows(table: str) -> list[list[str]]:
    """Return the rows of a table in ``data/``, without comment lines.

    Args:
        table: File name of the table, without the suffix.

    Returns:
        The cells of each row.
    """
    file = files("graphneg.parsers.dependency").joinpath("data", f"{table}.tsv")
    lines = file.read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("# ")]
