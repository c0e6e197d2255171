"""Cut texts into pieces, parse them with spaCy, and read the words of the dependency trees.

`pieces` cuts a text into pieces that are short enough to be parsed cheaply. `join_contractions` rewrites
contractions in the form that spaCy expects, and records the original offset of each character. `read_words`
turns spaCy's ``Doc`` into a list of `Word`. `signature` returns the name of the relation between two words,
such as ``nsubj`` or ``prep_to``. These names are keys in the tables of role counts and in the rules.

>>> [piece for _, piece in pieces("It rained. We stayed in.", 14)], join_contractions("I ’ m in")[0]
(['It rained. ', 'We stayed in.'], "I'm in")
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphneg.english.pipelines import find_pipeline, load_pipeline
from graphneg.english.words import lemma_of, word_map
from graphneg.errors import ParserError

_POS = word_map("universal-tags")

_HOW = "pip install 'graphneg[english]' installs a suitable one"


@dataclass(slots=True)
class Word:
    """A token of a spaCy document with its place in the dependency tree.

    Attributes:
        i: Index of the word in the text; in a text that was cut into pieces, index in its piece.
        text: The word as written.
        lower: The word in lower case, with straight apostrophes.
        lemma: The lemma of the word.
        tag: Penn part-of-speech tag.
        pos: Universal part-of-speech tag.
        dep: Label of the dependency relation to the head, in spaCy's (ClearNLP) label set.
        head: Index of the head of the word; a root has its own index.
        start: Offset of the first character of the word in the whole text.
        end: Offset after the last character of the word.
        sentence: Index of the sentence to which the word belongs.
        dependents: Indices of the dependents of the word, in text order.
        tree: All words with which the word was parsed, including the word itself.
    """

    i: int
    text: str
    lower: str
    lemma: str
    tag: str
    pos: str
    dep: str
    head: int
    start: int
    end: int
    sentence: int
    dependents: list[int] = field(default_factory=list[int])
    tree: Sequence[Word] = field(default=(), repr=False, compare=False)

    @property
    def parent(self) -> Word:
        """The head of the word in the dependency tree. A root is its own head."""
        return self.tree[self.head]

    @property
    def previous(self) -> Word | None:
        """The previous word in the text; ``None`` for the first word."""
        return self.tree[self.i - 1] if self.i else None

    @property
    def following(self) -> Word | None:
        """The next word in the text; ``None`` for the last word."""
        return self.tree[self.i + 1] if self.i + 1 < len(self.tree) else None

    @property
    def is_infinitive(self) -> bool:
        """Whether *to* is among the auxiliaries of the word."""
        return any(aux.tag == "TO" for aux in self.children("aux"))

    def children(self, *deps: str) -> list[Word]:
        """Return the dependents of the word, in text order.

        Args:
            *deps: Labels of dependency relations to select; without labels, all dependents are returned.

        Returns:
            The dependents that have one of these relations.
        """
        tree = self.tree
        return [tree[k] for k in self.dependents if not deps or tree[k].dep in deps]

    def child(self, *deps: str) -> Word | None:
        """Return the first dependent of the word that has one of the given relations.

        Args:
            *deps: Labels of dependency relations; without labels, any dependent is accepted.

        Returns:
            The dependent, or ``None`` if there is no such dependent.
        """
        tree = self.tree
        for k in self.dependents:
            if not deps or tree[k].dep in deps:
                return tree[k]
        return None

    def child_word(self, dep: str, *forms: str) -> Word | None:
        """Return the first dependent that has a given relation and one of the given forms.

        Args:
            dep: Label of the dependency relation.
            *forms: Word forms in lower case.

        Returns:
            The dependent, or ``None`` if there is no such dependent.
        """
        return next((kid for kid in self.children(dep) if kid.lower in forms), None)

    def subtree(self) -> list[Word]:
        """Return the word and all its descendants, in text order."""
        below: list[Word] = [self]
        for word in below:
            below.extend(word.children())
        return sorted(below, key=lambda word: word.i)


def read_words(doc: Any, offset: int = 0, indices: Sequence[int] | None = None) -> list[Word]:
    """Read the words of a spaCy ``Doc``, and link them to each other.

    Args:
        doc: A text, or a piece of a long text, that spaCy has parsed.
        offset: Offset of ``doc`` in the whole text; 0 if the text was not cut.
        indices: For each character of ``doc``, its offset before `join_contractions` removed spaces such as
            that in *I 'm*; ``None`` if nothing was removed.

    Returns:
        The words, each with its head and its dependents.
    """
    strings = doc.vocab.strings
    rows = doc.to_array(["TAG", "DEP", "HEAD", "SENT_START"]).tolist()
    words: list[Word] = []
    sentence = -1
    for token, (tag_id, dep_id, head, starts) in zip(doc, rows, strict=True):
        if starts == 1 or sentence < 0:
            sentence += 1
        i, text = token.i, token.text
        # spaCy stores the signed distance to the head as an unsigned 64-bit number. Convert large numbers
        # back to negative distances.
        head = i + (head - (1 << 64) if head >= 1 << 63 else head)
        tag, dep = strings[tag_id], strings[dep_id]
        lower = text.lower().replace("’", "'")
        lemma = lemma_of(lower, tag)
        start, end = token.idx, token.idx + len(text)
        if indices is not None:
            start, end = indices[start], indices[end - 1] + 1
        pos = _POS.get(tag, "PUNCT")
        # Penn tags do not distinguish auxiliaries and copulas (AUX) from other verbs, or subordinators
        # (SCONJ) from prepositions. The lemma and the dependency relation do.
        if pos == "VERB" and (lemma == "be" or dep in {"aux", "auxpass"}):
            pos = "AUX"
        elif tag == "IN" and dep == "mark":
            pos = "SCONJ"
        start, end = start + offset, end + offset
        words.append(Word(i, text, lower, lemma, tag, pos, dep, head, start, end, sentence, [], words))
    for word in words:
        if word.head != word.i:
            words[word.head].dependents.append(word.i)
    return words


def class_of(word: Word) -> str:
    """Return the word class under which the count tables list a word.

    >>> class_of(Word(0, "Rome", "rome", "rome", "NNP", "PROPN", "ROOT", 0, 0, 4, 0))
    'n'

    Args:
        word: A word with its Penn tag.

    Returns:
        ``v`` for verbs, ``n`` for nouns, ``j`` for adjectives and ``r`` for adverbs. For any other word, the
        Penn tag in lower case.
    """
    # The tag of a closed-class word is its word class: "prp" for pronouns, "in" for prepositions.
    first = word.tag[:1] if word.tag[:2] in {"VB", "NN", "JJ", "RB"} else ""
    return first.lower() if first else word.tag.lower()


def signature(predicate: Word, argument: Word) -> str | None:
    """Return the name of the relation between a predicate and its argument.

    Args:
        predicate: The predicate word.
        argument: The head word of the argument; or a preposition that has no object.

    Returns:
        A name such as ``nsubj``, ``prep_to`` or ``cop_subj`` (subject of a copula). The name starts with
        ``up_`` if the predicate depends on the argument, as in ``up_relcl`` for a relative clause. ``None``
        if the words are linked neither directly, nor by a preposition, nor by a copula.
    """
    above = argument.parent
    if above is predicate and argument is not predicate:
        # A preposition that has lost its object gets the relation of the object: `prep_in` for "in" in "the
        # house we live in".
        if argument.dep == "prep" and not argument.dependents:
            return f"prep_{argument.lower}"
        return clause_form(argument)
    if predicate.parent is argument and argument is not predicate:
        # In "the man who left", the predicate "left" depends on its argument "man", so the relation is
        # `up_relcl`.
        reverse = predicate.dep in {"amod", "relcl", "acl", "compound", "poss"}
        return f"up_{predicate.dep}" if reverse else None
    if above.parent is predicate and above is not argument and argument.dep in {"pobj", "pcomp"}:
        if above.dep == "agent":
            return "agent"
        return f"prep_{above.lower}" if above.dep in {"prep", "dative"} else None
    # In "She is tall", "she" depends on "is" in the tree, but it is an argument of "tall". Such a subject
    # gets the relation `cop_subj`.
    copula = predicate.parent
    subject = above is copula and argument.dep in {"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"}
    copular = copula.lemma == "be" and predicate.dep in {"acomp", "attr", "oprd"}
    return "cop_subj" if subject and copular else None


def clause_form(argument: Word) -> str:
    """Return a name for the dependency relation of a word, such as ``dobj`` or ``advcl_if``.

    For *came* in *if he came*, the name is ``advcl_if``: it includes the conjunction of the clause.

    Args:
        argument: The word; for a clause, its verb.

    Returns:
        The name. For a clause without a conjunction, it ends in ``to`` or in the tag of the verb, as in
        ``xcomp_to`` or ``ccomp_vbd``.
    """
    if argument.dep in {"ccomp", "xcomp", "advcl", "acl", "pcomp"}:
        kids = argument.children()
        marks = [kid.lower for kid in kids if kid.dep == "mark" or kid.tag == "WRB"]
        kind = "to" if any(kid.tag == "TO" for kid in kids) else argument.tag[:3].lower()
        return f"{argument.dep}_{marks[0] if marks else kind}"
    return argument.dep


def load_model(model: str | None) -> Any:
    """Load a spaCy pipeline.

    Raises `ParserError` if spaCy or the model is not installed, or if the model has no tagger or no parser.

    Args:
        model: Name or directory of the model; ``None`` takes an installed English model.

    Returns:
        The pipeline; later calls return the same object.
    """
    return _load(resolve_model(model))


def resolve_model(model: str | None) -> str:
    """Find the spaCy model to load.

    Args:
        model: Name or directory of the model; ``None`` accepts any installed English model.

    Returns:
        The package name or the directory.

    Raises:
        ParserError: spaCy or the model is not installed.
    """
    if importlib.util.find_spec("spacy") is None:
        raise ParserError("the dependency parser needs spaCy: pip install 'graphneg[english]'")
    name = find_pipeline(model, "en", ParserError)
    if name is None:
        raise ParserError(f"the dependency parser needs an English spaCy model; {_HOW}")
    return name


@lru_cache(maxsize=4)
def _load(name: str) -> Any:
    """Load a spaCy pipeline, and check that it has a tagger and a parser."""
    nlp = load_pipeline(name, ["ner", "lemmatizer", "attribute_ruler"], ParserError)
    missing = {"tagger", "parser"} - set(nlp.pipe_names)
    if missing:
        raise ParserError(f"the spaCy model {name} has no {' and no '.join(sorted(missing))}; {_HOW}")
    return nlp


def model_version(name: str) -> str:
    """Return the name and version of a spaCy model, without loading the model.

    Args:
        name: Package name or directory.

    Returns:
        A string such as ``en_core_web_sm-3.8.0``; the name of the directory if ``meta.json`` cannot be read.
    """
    folder = Path(name)
    if not folder.is_dir():
        spec = importlib.util.find_spec(name)
        folder = Path(spec.origin).parent if spec is not None and spec.origin else folder
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        return f"{meta['lang']}_{meta['name']}-{meta['version']}"
    except (OSError, ValueError, KeyError):
        return folder.name


LONGEST = 1000
"""Maximum length of a piece in characters. The limit keeps spaCy's parse of each piece cheap."""

# The alternatives of this pattern match, in this order, "I ' m", "don ' t", "Mr ." and "p . m .".
_APART = re.compile(
    r"(?<=\w)( ?)'( ?)(?=(?:s|m|re|ll|ve|d)\b)"
    r"|(?<=n)( ?)'( ?)(?=t\b)"
    r"|\b(?:Mr|Mrs|Ms|Dr|No)( )(?=\.)"
    r"|\b[ap]( )\.( )?m( )?(?=\.)",
    re.IGNORECASE,
)


def readable(text: str) -> str:
    r"""Replace each unprintable character of a text with a space.

    >>> readable("a\x00b\ud800")
    'a b '

    Args:
        text: Any string.

    Returns:
        A text of the same length.
    """
    return "".join(character if character.isprintable() else " " for character in text)


def join_contractions(text: str) -> tuple[str, tuple[int, ...] | None]:
    """Join the contractions and abbreviations of a text that are split by spaces.

    Some corpora write *I ’ m* and *can ’ t*, but spaCy's tokenizer expects *I'm* and *can't*. spaCy splits
    *can't* into *ca* and *n't*. The *n* gets the offset of the apostrophe, because the original text has the
    tokens *can* and *’*.

    >>> join_contractions("I ’ m in")
    ("I'm in", (0, 2, 4, 5, 6, 7))

    Args:
        text: The text, such as ``I ’ m in``.

    Returns:
        The new text, and for each of its characters the offset in the original text; ``None`` instead of the
        offsets if no character was removed.
    """
    plain = text.translate(str.maketrans("’‘´`", "''''"))
    # Title-cased corpora write "I ' Ve", which must become "I've".
    plain = re.sub(r"(?<=\w ' )(?:Ve|Ll|Re)\b", lambda match: match[0].lower(), plain)
    dropped: set[int] = set()
    moved: dict[int, int] = {}
    for match in _APART.finditer(plain):
        gaps = [match.start(n) for n in range(1, 9) if match.group(n)]
        dropped.update(gaps)
        if gaps and plain[match.end() : match.end() + 1] in {"t", "T"}:
            moved[match.start() - 1] = match.start() + match.group().index("'")
    if not dropped:
        return plain, None
    kept = [k for k in range(len(plain)) if k not in dropped]
    return "".join(plain[k] for k in kept), tuple(moved.get(k, k) for k in kept)


def pieces(text: str, longest: int = LONGEST) -> Iterator[tuple[int, str]]:
    """Cut a long text into pieces that can be parsed separately.

    A piece ends after the last sentence end within the maximum length, or else after the last space, or else
    at the maximum length.

    >>> list(pieces("It rained. We stayed in.", 14))
    [(0, 'It rained. '), (11, 'We stayed in.')]

    Args:
        text: The text to cut.
        longest: Maximum length of a piece in characters.

    Yields:
        Pairs of the offset at which a piece starts, and the piece.
    """
    start = 0
    while len(text) - start > longest:
        window = text[start : start + longest]
        # The end marks include Chinese and Japanese marks, since texts in any language may be passed.
        ends = [match.end() for match in re.finditer(r"[.!?…。！？]+[\"'”’)\]]*\s", window)]
        cut = ends[-1] if ends else window.rfind(" ") + 1 or longest
        yield start, window[:cut]
        start += cut
    if start < len(text) or not text:
        yield start, text[start:]
