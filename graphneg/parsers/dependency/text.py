"""From texts to words: cut a text into pieces, parse them with spaCy, and read the dependency trees.

`pieces` cuts a text so that each piece is cheap to parse. `tightened` writes contractions as spaCy expects
them, and keeps the place of each character. `read_words` turns spaCy's ``Doc`` into a list of `Word`.
`signature` names the relation between two words, by which tables count roles and rules look them up.

>>> [piece for _, piece in pieces("It rained. We stayed in.", 14)], tightened("I ’ m in")[0]
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

_HOW = "pip install 'graphneg[english]' brings an English one"


@dataclass(slots=True)
class Word:
    """A token of spaCy's in its dependency tree.

    Attributes:
        i: Index of the word in the tree.
        text: The word as written.
        lower: The word in lower case, with straight apostrophes.
        lemma: Its lemma.
        tag: Penn tag.
        pos: Universal part of speech.
        dep: Dependency relation to its head, in spaCy's (ClearNLP) labels.
        head: Index of its head; its own index for a root.
        start: Offset of its first character in the whole text.
        end: Offset behind its last character.
        sentence: Index of its sentence.
        kids: Indices of its dependents, in text order.
        tree: All words of the piece, this one included.
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
    kids: list[int] = field(default_factory=list[int])
    tree: Sequence[Word] = field(default=(), repr=False, compare=False)

    @property
    def parent(self) -> Word:
        """The head of the word; a root is its own parent."""
        return self.tree[self.head]

    @property
    def previous(self) -> Word | None:
        """The word before it in the text."""
        return self.tree[self.i - 1] if self.i else None

    @property
    def following(self) -> Word | None:
        """The word after it in the text."""
        return self.tree[self.i + 1] if self.i + 1 < len(self.tree) else None

    @property
    def is_infinitive(self) -> bool:
        """Whether *to* is among its auxiliaries."""
        return any(aux.tag == "TO" for aux in self.children("aux"))

    def children(self, *deps: str) -> list[Word]:
        """Return the dependents of the word, in text order.

        Args:
            *deps: Relations to select; without any, all dependents are returned.

        Returns:
            The dependents.
        """
        tree = self.tree
        return [tree[k] for k in self.kids if not deps or tree[k].dep in deps]

    def child(self, *deps: str) -> Word | None:
        """Return the first dependent of the word.

        Args:
            *deps: Relations to select; without any, all dependents count.

        Returns:
            The dependent, or ``None``.
        """
        tree = self.tree
        for k in self.kids:
            if not deps or tree[k].dep in deps:
                return tree[k]
        return None

    def child_word(self, dep: str, *forms: str) -> Word | None:
        """Return the first dependent of a relation that has one of the given forms.

        Args:
            dep: The relation.
            *forms: Words in lower case.

        Returns:
            The dependent, or ``None``.
        """
        return next((kid for kid in self.children(dep) if kid.lower in forms), None)

    def subtree(self) -> list[Word]:
        """Return the word and all words below it, in text order."""
        below: list[Word] = [self]
        for word in below:
            below.extend(word.children())
        return sorted(below, key=lambda word: word.i)


def read_words(doc: Any, offset: int = 0, places: Sequence[int] | None = None) -> list[Word]:
    """Read the words of a spaCy ``Doc``.

    Args:
        doc: The parsed document.
        offset: Offset of the document's text in the whole text.
        places: Original offset of each character of the document; ``None`` if none was moved.

    Returns:
        The words, linked to each other.
    """
    strings = doc.vocab.strings
    rows = doc.to_array(["TAG", "DEP", "HEAD", "SENT_START"]).tolist()
    words: list[Word] = []
    sentence = -1
    for token, (tag_id, dep_id, head, starts) in zip(doc, rows, strict=True):
        if starts == 1 or sentence < 0:
            sentence += 1
        i, text = token.i, token.text
        # spaCy stores the distance to the head as an unsigned 64-bit number, so negative distances wrap
        # around.
        head = i + (head - (1 << 64) if head >= 1 << 63 else head)
        tag, dep = strings[tag_id], strings[dep_id]
        lower = text.lower().replace("’", "'")
        lemma = lemma_of(lower, tag)
        start, end = token.idx, token.idx + len(text)
        if places is not None:
            start, end = places[start], places[end - 1] + 1
        pos = _POS.get(tag, "PUNCT")
        # The universal tagset has AUX for auxiliaries and copulas, and SCONJ for subordinators.
        if pos == "VERB" and (lemma == "be" or dep in {"aux", "auxpass"}):
            pos = "AUX"
        elif tag == "IN" and dep == "mark":
            pos = "SCONJ"
        start, end = start + offset, end + offset
        words.append(Word(i, text, lower, lemma, tag, pos, dep, head, start, end, sentence, [], words))
    for word in words:
        if word.head != word.i:
            words[word.head].kids.append(word.i)
    return words


def class_of(word: Word) -> str:
    """Return the word class by which the tables count.

    >>> class_of(Word(0, "Rome", "rome", "rome", "NNP", "PROPN", "ROOT", 0, 0, 4, 0))
    'n'

    Args:
        word: The word.

    Returns:
        ``v``, ``n``, ``j`` or ``r`` for verbs, nouns, adjectives and adverbs, else the Penn tag in lower
        case.
    """
    # Tags of closed classes are classes themselves: "prp", "in".
    first = word.tag[:1] if word.tag[:2] in {"VB", "NN", "JJ", "RB"} else ""
    return first.lower() if first else word.tag.lower()


def signature(predicate: Word, argument: Word) -> str | None:
    """Name the relation of an argument to a predicate.

    Args:
        predicate: The predicate.
        argument: The head word of the argument, or its preposition.

    Returns:
        A name such as ``nsubj``, ``prep_to``, ``up_relcl`` (the argument governs the predicate) or
        ``cop_subj``; ``None`` if the words are not linked directly, by a preposition or by a copula.
    """
    above = argument.parent
    if above is predicate and argument is not predicate:
        # "the house we live in": a preposition without an object.
        if argument.dep == "prep" and not argument.kids:
            return f"prep_{argument.lower}"
        return clause_form(argument)
    if predicate.parent is argument and argument is not predicate:
        # "the man who left": the predicate depends on its own argument.
        reverse = predicate.dep in {"amod", "relcl", "acl", "compound", "poss"}
        return f"up_{predicate.dep}" if reverse else None
    if above.parent is predicate and above is not argument and argument.dep in {"pobj", "pcomp"}:
        if above.dep == "agent":
            return "agent"
        return f"prep_{above.lower}" if above.dep in {"prep", "dative"} else None
    # "She is tall": the subject of "be" is the argument of "tall".
    copula = predicate.parent
    subject = above is copula and argument.dep in {"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"}
    copular = copula.lemma == "be" and predicate.dep in {"acomp", "attr", "oprd"}
    return "cop_subj" if subject and copular else None


def clause_form(argument: Word) -> str:
    """Return the relation of a word; that of a clause includes its mark, as in ``advcl_if`` or ``xcomp_to``.

    Args:
        argument: The word.

    Returns:
        The relation; a clause without a mark has ``to`` or the tag of its verb instead: ``ccomp_vbd``.
    """
    if argument.dep in {"ccomp", "xcomp", "advcl", "acl", "pcomp"}:
        kids = argument.children()
        marks = [kid.lower for kid in kids if kid.dep == "mark" or kid.tag == "WRB"]
        kind = "to" if any(kid.tag == "TO" for kid in kids) else argument.tag[:3].lower()
        return f"{argument.dep}_{marks[0] if marks else kind}"
    return argument.dep


def load_model(model: str | None) -> Any:
    """Load a spaCy pipeline.

    A `ParserError` says if spaCy or the model is not installed, or if the model has no tagger or parser.

    Args:
        model: Name or directory; ``None`` loads the first known one that is installed.

    Returns:
        The pipeline, which is shared by later calls.
    """
    return _load(resolve_model(model))


def resolve_model(model: str | None) -> str:
    """Find the spaCy model to load.

    Args:
        model: Name or directory; ``None`` accepts any installed English model.

    Returns:
        The package name or directory.

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
    """Load a pipeline, and check that it has a tagger and a parser."""
    nlp = load_pipeline(name, ["ner", "lemmatizer", "attribute_ruler"], ParserError)
    missing = {"tagger", "parser"} - set(nlp.pipe_names)
    if missing:
        raise ParserError(f"the spaCy model {name} has no {' and no '.join(sorted(missing))}; {_HOW}")
    return nlp


def model_version(name: str) -> str:
    """Return name and version of a spaCy model, without loading it.

    Args:
        name: Package name or directory.

    Returns:
        ``en_core_web_sm-3.8.0``; the name of the directory if the model does not say.
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
"""Maximum number of characters of a piece, so that each is cheap to parse."""

# In order: "I ' m", "don ' t", "Mr .", "p . m ."
_APART = re.compile(
    r"(?<=\w)( ?)'( ?)(?=(?:s|m|re|ll|ve|d)\b)"
    r"|(?<=n)( ?)'( ?)(?=t\b)"
    r"|\b(?:Mr|Mrs|Ms|Dr|No)( )(?=\.)"
    r"|\b[ap]( )\.( )?m( )?(?=\.)",
    re.IGNORECASE,
)


def readable(text: str) -> str:
    r"""Replace each unprintable character of a text by a space.

    >>> readable("a\x00b\ud800")
    'a b '

    Args:
        text: Any string.

    Returns:
        The text, of the same length.
    """
    return "".join(character if character.isprintable() else " " for character in text)


def tightened(text: str) -> tuple[str, tuple[int, ...] | None]:
    """Join the split contractions of a text.

    Corpora write *I ’ m* and *can ’ t*, but spaCy's tokenizer knows *I'm* and *can't*. The *n* of *n't* gets
    the place of the apostrophe, so that the negated word keeps its own characters.

    >>> tightened("I ’ m in")
    ("I'm in", (0, 2, 4, 5, 6, 7))

    Args:
        text: The text.

    Returns:
        The new text, and the original offset of each of its characters; ``None`` instead of the offsets if
        nothing was removed.
    """
    plain = text.translate(str.maketrans("’‘´`", "''''"))
    # Title-cased corpora write "I ' Ve".
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
    """Yield the pieces of a text.

    A piece ends behind the last sentence end that fits, else at a space, else anywhere.

    >>> list(pieces("It rained. We stayed in.", 14))
    [(0, 'It rained. '), (11, 'We stayed in.')]

    Args:
        text: The text.
        longest: Maximum length of a piece in characters.

    Yields:
        The offset and the text of each piece.
    """
    start = 0
    while len(text) - start > longest:
        window = text[start : start + longest]
        # The marks include those of Chinese and Japanese, since any text may be given.
        ends = [match.end() for match in re.finditer(r"[.!?…。！？]+[\"'”’)\]]*\s", window)]
        cut = ends[-1] if ends else window.rfind(" ") + 1 or longest
        yield start, window[:cut]
        start += cut
    if start < len(text) or not text:
        yield start, text[start:]
