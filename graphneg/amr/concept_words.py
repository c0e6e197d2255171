"""Which words a node of an AMR graph may stand for, before any sentence is looked at.

``expectations`` gives, for a node, search keys with weights: an exact lemma weighs 10, a closed-class
word 8 to 10, a derived word is left to the aligner's stems. Follows the AMR guidelines (Banarescu et al.
2019, version 1.2.6) on modals, polarity, connectives and -91 frames.
"""

from __future__ import annotations

import re
from functools import lru_cache

from graphneg.english.words import MONTHS, NUMBERS, ORDINALS, WEEKDAYS, american
from graphneg.model import AmrGraph, AmrNode

PRONOUNS: dict[str, tuple[str, ...]] = {
    "i": ("i", "me", "my", "mine", "myself"),
    "you": ("you", "your", "yours", "yourself", "yourselves", "u", "ya"),
    "he": ("he", "him", "his", "himself"),
    "she": ("she", "her", "hers", "herself"),
    "it": ("it", "its", "itself"),
    "we": ("we", "us", "our", "ours", "ourselves", "'s"),
    "they": ("they", "them", "their", "theirs", "themselves", "'em"),
    "one": ("one", "oneself", "you"),
}
NEGATIVES = (
    "not", "n't", "never", "no", "nothing", "nobody", "none", "neither", "nor", "nowhere", "without",
    "hardly", "cannot",
)  # fmt: skip
NEGATIVE_PREFIX = re.compile(r"^(?:un|in|im|ir|il|dis|non-?)(?=[a-z]{3})|less(?:ly)?$")
_WORDS: dict[str, str] = {
    "and": "and & plus",
    "or": "or either",
    "contrast-01": "but however yet although though while whereas still",
    "have-concession-91": "although though despite but anyway well however still",
    "have-concession-of": "but",
    "cause-01": "because so since why therefore as thus hence cause make for",
    "infer-01": "so then therefore",
    "have-condition-91": "if unless when provided",
    "have-purpose-91": "for to",
    "possible-01": "can could may might able possible possibly possibility maybe perhaps impossible unable",
    "permit-01": "may can let allow permit could",
    "obligate-01": "must have should need ought got obligated obliged shall",
    "recommend-01": "should ought better shall",
    "likely-01": "likely probably unlikely probable must",
    "intend-01": "going will plan",
    "resemble-01": "like as similar resemble",
    "include-91": "of among including include",
    "exemplify-01": "example like such instance",
    "say-01": "say tell ask reply",
    "have-03": "have has had 've 'd own with",
    "have-degree-91": "more most as too less enough so",
    "have-quant-91": "more many much enough most",
    "equal-01": "equal make be",
    "except-01": "except but besides",
    "multiple": "times",
    "product-of": "times",
    "before": "before ago earlier",
    "after": "after later since in",
    "ago": "ago",
    "now": "now currently",
    "also": "also too either as",
    "ever": "ever never",
    "even-if": "even",
    "too": "too also",
    "person": "people person one someone",
    "thing": "thing something stuff what",
    "something": "something anything",
    "someone": "someone anyone somebody anybody",
    "somebody": "somebody someone anybody anyone",
    "anyone": "anyone anybody someone",
    "anybody": "anybody anyone somebody",
    "anything": "anything nothing something",
    "anywhere": "anywhere somewhere nowhere",
    "everybody": "everybody everyone",
    "everyone": "everyone everybody",
    "some": "some a any",
    "any": "any no some",
    "all": "all every whole everything everyone",
    "every": "every each everything",
    "whole": "whole all",
    "another": "another other",
    "other": "other another else",
    "this": "this these",
    "that": "that those",
    "these": "these",
    "those": "those",
    "many": "many lots lot several",
    "much": "much lot",
    "lot": "lot lots",
    "percentage-entity": "percent %",
    "mother": "mother mom mum mommy",
    "father": "father dad daddy",
    "television": "television tv",
    "telephone": "telephone phone",
    "okay": "okay ok o.k alright",
    "ok-01": "okay ok fine alright",
    "okay-04": "okay ok fine alright",
    "yes": "yes yeah yep",
    "no": "no nope",
    "hello": "hello hi hey",
    "hi": "hi hello",
    "thank-01": "thanks thank",
    "yesterday": "yesterday",
    "today": "today tonight",
    "amr-unknown": "what who whom whose where when why how which",
    "amr-choice": "or whether",
    "truth-value": "if whether",
    "relative-position": "from away",
    "as-long-as": "as",
    "instead-of-91": "instead",
    "correlate-91": "the",
    "move-01": "move",
    "opine-01": "think opinion",
    "think-01": "think",
    "use-03": "used",
    "like-02": "like would",
    "want-01": "want wanna",
    "go-01": "go",
    "come-on-25": "come",
    "regardless-91": "regardless",
    "be-located-at-91": "located",
    "near-02": "near",
    "child": "child kid baby",
    "prefer-01": "prefer rather",
    "good-02": "good well better best",
    "good-04": "good well better",
    "marry-01": "married marry wife husband wedding",
    "have-rel-role-91": "",
    "have-org-role-91": "",
    "date-entity": "",
    "temporal-quantity": "",
    "name": "",
    "multi-sentence": "",
}
_TABLE = {concept: tuple(words.split()) for concept, words in _WORDS.items()}
_ROLE_WORDS = {"polarity", "mode", "polite", "wiki"}


@lru_cache(maxsize=65536)
def concept_keys(concept: str) -> tuple[tuple[str, float], ...]:
    """Lemmas that a concept may show as, with weights."""
    if concept in PRONOUNS:
        return tuple((form, 10.0 - 0.1 * place) for place, form in enumerate(PRONOUNS[concept]))
    lemma = concept_lemma(concept)
    known = _TABLE.get(concept)
    if known is not None and (concept.endswith("-91") or not known):
        return tuple((word, 6.0) for word in known)
    keys = {american(lemma): 10.0}
    head = lemma.split(" ")[0]
    if head != lemma:
        keys[american(head)] = 7.0
        keys[lemma.replace(" ", "-")] = 10.0
        keys[lemma.replace(" ", "")] = 10.0
    for place, word in enumerate(known or ()):
        keys.setdefault(word, 8.0 - 0.1 * place)
    return tuple(keys.items())


@lru_cache(maxsize=65536)
def concept_lemma(concept: str) -> str:
    """``take-away-05`` is ``take away``; lower case, no sense."""
    return re.sub(r"-\d+$", "", concept).replace("-", " ").replace("_", " ").lower().strip('"') or concept


def value_keys(graph: AmrGraph, node: AmrNode) -> tuple[tuple[str, float], ...]:
    """Words for a constant: strings as they are, months, ordinals; numbers are matched by value."""
    value = (node.value or "").strip('"')
    parent = graph.nodes[node.up] if node.up is not None else None
    if node.role == "polarity":
        return (
            tuple((word, 9.0 - 0.1 * place) for place, word in enumerate(NEGATIVES)) if value == "-" else ()
        )
    if node.role in _ROLE_WORDS or not value:
        return ()
    keys = [(american(value.lower()), 10.0)]
    if parent is not None and parent.concept == "date-entity" and node.role == "month" and value.isdigit():
        month = MONTHS[(int(value) - 1) % 12]
        keys += [(month, 10.0), (month[:3], 9.0)]
    if parent is not None and parent.concept == "ordinal-entity":
        keys += [(word, 10.0) for word, number in ORDINALS.items() if str(number) == value]
        keys += [(word, 9.0) for word in ("last", "final") if value == "-1"]
    if node.role == "time" and re.fullmatch(r"\d+:\d\d", value):
        hour = int(value.split(":")[0])
        spoken = [word for word, number in NUMBERS.items() if number == (hour % 12 or 12)]
        keys += [(str(hour), 8.0), (str(hour % 12 or 12), 9.0), *((word, 9.0) for word in spoken)]
    if node.role == "weekday" and value.isdigit():
        keys += [(WEEKDAYS[(int(value) - 1) % 7], 9.0)]
    return tuple(keys)
