"""Lemmas by tag: spaCy's rule lemmatizer is slow and makes ``rid`` of ``riding``."""

from __future__ import annotations

from functools import lru_cache

_FORMS = {
    "be": "'s 're 'm am is are was were been being be ai",
    "have": "'ve has had having",
    "would": "'d",
    "will": "'ll wo",
    "can": "ca",
    "shall": "sha",
    "do": "did does done doing",
    "not": "n't nt",
    "get": "got gotten",
    "go": "gon",
    "want": "wan",
    "lie": "lay",
    "leave": "left",
    "feel": "felt",
    "find": "found",
    "see": "saw",
    "think": "thought",
    "light": "lit",
    "good": "better best",
    "bad": "worse worst",
    "people": "people",
    "man": "men",
}
_FIXED = {form: lemma for lemma, forms in _FORMS.items() for form in forms.split()}
_PLURALS = {"leaves": "leaf"}
_SINGULAR = frozenset({"leave", "stave", "axe"})
_BY_TAG = {
    **dict.fromkeys(("NN", "NNS"), "NOUN"),
    **dict.fromkeys(("NNPS",), "NOUN"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "VERB"),
    **dict.fromkeys(("JJR", "JJS"), "ADJ"),
    **dict.fromkeys(("RBR", "RBS"), "ADV"),
}


@lru_cache(maxsize=65536)
def lemma_of(word: str, tag: str) -> str:
    """The lemma of a word in lower case, by its Penn Treebank tag.

    >>> lemma_of("riding", "VBG"), lemma_of("n't", "RB"), lemma_of("mice", "NNS")
    ('ride', 'not', 'mouse')
    """
    if tag == "POS":
        return word
    if word == "'d" and tag == "VBD":
        return "have"
    if word in _FIXED and (tag not in {"NN", "NNS"} or word in {"people", "men"}):
        return _FIXED[word]
    if word in _PLURALS and tag == "NNS":
        return _PLURALS[word]
    upos = _BY_TAG.get(tag)
    if upos is None or len(word) > 40 or not word.isascii():
        return word
    return _inflected(word, upos, tag)


def _inflected(word: str, upos: str, tag: str) -> str:
    from lemminflect import getLemma

    found: tuple[str, ...] = getLemma(word, upos=upos)
    if not found:
        return word
    if upos == "NOUN" and tag == "NN" and (word in found or word in _SINGULAR):
        return word
    return next((one for one in found if one != word), word) if tag == "NNS" else found[0]
