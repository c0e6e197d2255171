"""From texts to words: the pieces that a text is cut into, the spaCy model that reads them, and its trees.

In: a text of any length and language. Out: pieces that are cheap to parse, with the places of their
characters; of spaCy's ``Doc`` a list of `Word`, each with its head, its children, and the characters that it
stands for. `signature` names the relation between two words, by which tables count roles and rules look them
up.
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
    """A token of spaCy's. ``head`` is an index into ``tree``, its own where it is a root.

    ``start`` and ``end`` are characters of the text; ``kids`` are in order of the text; ``tree`` is the
    list of all words, this one included.
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
        """The word that it depends on; a root's is itself."""
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
        """Whether it has a *to* as its auxiliary."""
        return any(aux.tag == "TO" for aux in self.children("aux"))

    def children(self, *deps: str) -> list[Word]:
        """The words that depend on it by one of these relations (by any, if none is given), in order."""
        tree = self.tree
        return [tree[k] for k in self.kids if not deps or tree[k].dep in deps]

    def child(self, *deps: str) -> Word | None:
        """The first of `children`."""
        tree = self.tree
        for k in self.kids:
            if not deps or tree[k].dep in deps:
                return tree[k]
        return None

    def child_word(self, dep: str, *forms: str) -> Word | None:
        """The first word that depends on it by ``dep`` and is one of these, in lower case."""
        return next((kid for kid in self.children(dep) if kid.lower in forms), None)

    def subtree(self) -> list[Word]:
        """The word and all below it, in order of the text."""
        below: list[Word] = [self]
        for word in below:
            below.extend(word.children())
        return sorted(below, key=lambda word: word.i)


def read_words(doc: Any, offset: int = 0, places: Sequence[int] | None = None) -> list[Word]:
    """The words of a spaCy ``Doc``.

    ``offset`` is the place of the document's text in the whole text; ``places`` says where each of
    its characters stood, where that is not where it stands.
    """
    strings = doc.vocab.strings
    rows = doc.to_array(["TAG", "DEP", "HEAD", "SENT_START"]).tolist()
    words: list[Word] = []
    sentence = -1
    for token, (tag_id, dep_id, head, starts) in zip(doc, rows, strict=True):
        if starts == 1 or sentence < 0:
            sentence += 1
        i, text = token.i, token.text
        head = i + (head - (1 << 64) if head >= 1 << 63 else head)
        tag, dep = strings[tag_id], strings[dep_id]
        lower = text.lower().replace("’", "'")
        lemma = lemma_of(lower, tag)
        start, end = token.idx, token.idx + len(text)
        if places is not None:
            start, end = places[start], places[end - 1] + 1
        pos = _POS.get(tag, "PUNCT")
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
    """``v``, ``n``, ``j``, ``r`` for open classes, the tag in lower case for the others.

    >>> class_of(Word(0, "Rome", "rome", "rome", "NNP", "PROPN", "ROOT", 0, 0, 4, 0))
    'n'
    """
    first = word.tag[:1] if word.tag[:2] in {"VB", "NN", "JJ", "RB"} else ""
    return first.lower() if first else word.tag.lower()


def signature(predicate: Word, argument: Word) -> str | None:
    """How ``argument`` (the head word of a phrase, or its preposition) hangs on ``predicate``.

    ``None`` where they are not within a preposition, a copula or a relative clause of each other.
    """
    above = argument.parent
    if above is predicate and argument is not predicate:
        if argument.dep == "prep" and not argument.kids:
            return f"prep_{argument.lower}"
        return clause_form(argument)
    if predicate.parent is argument and argument is not predicate:
        reverse = predicate.dep in {"amod", "relcl", "acl", "compound", "poss"}
        return f"up_{predicate.dep}" if reverse else None
    if above.parent is predicate and above is not argument and argument.dep in {"pobj", "pcomp"}:
        if above.dep == "agent":
            return "agent"
        return f"prep_{above.lower}" if above.dep in {"prep", "dative"} else None
    copula = predicate.parent
    subject = above is copula and argument.dep in {"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"}
    copular = copula.lemma == "be" and predicate.dep in {"acomp", "attr", "oprd"}
    return "cop_subj" if subject and copular else None


def clause_form(argument: Word) -> str:
    """The relation of a word; a clause's with its mark: ``advcl_if``, ``xcomp_to``, ``ccomp_vbd``."""
    if argument.dep in {"ccomp", "xcomp", "advcl", "acl", "pcomp"}:
        kids = argument.children()
        marks = [kid.lower for kid in kids if kid.dep == "mark" or kid.tag == "WRB"]
        kind = "to" if any(kid.tag == "TO" for kid in kids) else argument.tag[:3].lower()
        return f"{argument.dep}_{marks[0] if marks else kind}"
    return argument.dep


def load_model(model: str | None) -> Any:
    """The spaCy pipeline of that name or path; with ``None``, the first known one installed.

    Raises `ParserError`: spaCy or the model is not installed, or it is no model with a parser.
    """
    return _load(resolve_model(model))


def resolve_model(model: str | None) -> str:
    """The package name or directory that is loaded for ``model``.

    Raises `ParserError`: spaCy is not installed, or there is no such model.
    """
    if importlib.util.find_spec("spacy") is None:
        raise ParserError("the dependency parser needs spaCy: pip install 'graphneg[english]'")
    name = find_pipeline(model, "en", ParserError)
    if name is None:
        raise ParserError(f"the dependency parser needs an English spaCy model; {_HOW}")
    return name


@lru_cache(maxsize=4)
def _load(name: str) -> Any:
    nlp = load_pipeline(name, ["ner", "lemmatizer", "attribute_ruler"], ParserError)
    missing = {"tagger", "parser"} - set(nlp.pipe_names)
    if missing:
        raise ParserError(f"the spaCy model {name} has no {' and no '.join(sorted(missing))}; {_HOW}")
    return nlp


def model_version(name: str) -> str:
    """The model's name and version, read without loading it: ``en_core_web_sm-3.8.0``."""
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

_APART = re.compile(
    r"(?<=\w)( ?)'( ?)(?=(?:s|m|re|ll|ve|d)\b)"
    r"|(?<=n)( ?)'( ?)(?=t\b)"
    r"|\b(?:Mr|Mrs|Ms|Dr|No)( )(?=\.)"
    r"|\b[ap]( )\.( )?m( )?(?=\.)",
    re.IGNORECASE,
)


def readable(text: str) -> str:
    """The text with a space for each character that is none, of the same length.

    >>> readable("a\\x00b\\ud800")
    'a b '
    """
    return "".join(character if character.isprintable() else " " for character in text)


def tightened(text: str) -> tuple[str, tuple[int, ...] | None]:
    """The text with its contractions written tightly, and where each of its characters stood.

    Corpora write *I ’ m* and *can ’ t*; spaCy knows *I'm* and *can't*. ``None`` says that every
    character stands where it stood. The *n* of *n't* is put where the apostrophe stood, so that
    what is negated keeps its own characters.

    >>> tightened("I ’ m in")
    ("I'm in", (0, 2, 4, 5, 6, 7))
    """
    plain = text.translate(str.maketrans("’‘´`", "''''"))
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
    """The text's pieces with their places, none longer than ``longest`` characters.

    Cut behind the last end of a sentence that fits, else at a space, else anywhere.

    >>> list(pieces("It rained. We stayed in.", 14))
    [(0, 'It rained. '), (11, 'We stayed in.')]
    """
    start = 0
    while len(text) - start > longest:
        window = text[start : start + longest]
        ends = [match.end() for match in re.finditer(r"[.!?…。！？]+[\"'”’)\]]*\s", window)]
        cut = ends[-1] if ends else window.rfind(" ") + 1 or longest
        yield start, window[:cut]
        start += cut
    if start < len(text) or not text:
        yield start, text[start:]
