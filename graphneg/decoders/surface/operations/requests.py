"""State a request as a wish of its speaker, so that a reply can repeat it.

A request makes no claim, but it shows what its speaker wants. `state_request` writes the words of a request
as a statement of this wish. The openings of requests and the formulas that are no requests ("Hold on") are in
``restating.tsv``.

Example: "May I try it on?" becomes "I want to try it on." The other speaker then repeats "you don't want to
try it on". "Please have a seat." becomes "I want you to have a seat."
"""

from __future__ import annotations

from graphneg.amr.concept_words import PRONOUNS
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.decoders.surface.operations.restating import BROKEN, MAX_WORDS, cut_asides, words_of
from graphneg.decoders.surface.operations.wishes import is_formula, keep_request, state_as_own
from graphneg.decoders.surface.refusals import is_dangling
from graphneg.english.gazetteer import TITLES
from graphneg.english.words import readings, word_class

MIN_ACTION = 2
"""Minimum number of words of a requested action. "Relax!" is too short to be repeated."""
_PLAIN = frozenset({"VB", "VBP"})


def state_request(source: SentenceDraft, k: int) -> None:
    """Keep only a request, and turn it into a statement of its speaker's wish.

    Args:
        source: The sentences of a turn, edited in place.
        k: The index of the node of the requested action.

    Raises:
        RealisationError: The sentence is no request that a reply can repeat (``unclear-clause``,
            ``unsupported-edit``).

    Example:
        "Could you open the door, please?" becomes "I want you to open the door."
    """
    keep_request(source, k, "before-requests")
    tokens = source.tokens
    asks = any("?" in token.text for token in tokens)
    wanted = _cut_request(source)
    # "Tin or bottle?" is not an order, although "tin" and "bottle" can also be verbs.
    if asks and wanted == "order":
        raise RealisationError("unclear-clause", "the question is no request")
    while len(tokens) > 2 and tokens[0].lower in words_of("before-requests"):
        source.cut(0, 1)
    _keep_action(source, k)
    cut_asides(source)
    source.cut(tokens.run_start(len(tokens), ("EN", "PU")), len(tokens))
    _refuse_formula(source, wanted)
    verb = tokens[0]
    verb.text, verb.tag, verb.sentence_initial = verb.text.lower(), "VB", False
    person = [] if wanted in ("own", "joint") else [Token("you", "PRS")]
    state_as_own(source, Token("want", "VBP"), *person, Token("to", "TO"))


def _cut_request(source: SentenceDraft) -> str:
    """Remove the words before the verb of a request, such as "may I", and return who would act.

    Returns:
        Who would act:

        - ``own``: the speaker ("May I ...?")
        - ``joint``: both ("Let's ...")
        - ``asked``: the addressee, in a question that may also ask for an ability ("Can you ...?")
        - ``other``: the addressee, in another question ("Would you ...?")
        - ``order``: the addressee, in an order ("Sit down")
    """
    tokens = source.tokens
    words = [token.lower for token in tokens[:4]]
    for name in ("own", "joint", "asked", "other"):
        for opening in (entry.split("_") for entry in words_of(f"requests-{name}")):
            if words[: len(opening)] == opening:
                source.cut(0, len(opening))
                return name
    return "order"


def _keep_action(source: SentenceDraft, k: int) -> None:
    """Remove the main clause that follows a request: "Sit down, and I'll call him" -> "Sit down".

    Raises:
        RealisationError: The graph shows that this clause belongs to the request (``unclear-clause``).
    """
    tokens = source.tokens
    for group in source.parse_verbs():
        before = group.start - 1
        if group.subject is None or before < 1 or tokens[before].lower not in words_of("between-clauses"):
            continue
        while tokens[before - 1].lower in words_of("between-clauses"):
            before -= 1
        nodes = range(k, source.node(k).subtree_last + 1)
        inner = [node for node in nodes if source.node(node).concept not in PRONOUNS]
        if any(index >= before for node in inner for index in source.indices(node)[:1]):
            raise RealisationError("unclear-clause", "the request consists of several clauses")
        source.cut(before, len(tokens))
        return


def _refuse_formula(source: SentenceDraft, wanted: str) -> None:
    """Refuse requests such as "Hold on", which make no sense after "I want you to".

    Raises:
        RealisationError: The request does not consist of a verb and its arguments (``unclear-clause``), or it
            is a formula (``unsupported-edit``).
    """
    tokens = source.tokens
    words = [token.lower for token in tokens]
    if len(words) < MIN_ACTION or len(words) > MAX_WORDS:
        raise RealisationError("unclear-clause", "the request is too short or too long")
    verb = tokens[0]
    if verb.lower != verb.lemma or not (verb.tag in _PLAIN or "VERB" in readings(verb.lower)):
        raise RealisationError("unclear-clause", "the request does not begin with a verb")
    if any(token.tag in ("EN", "QT") or BROKEN.search(token.text) for token in tokens):
        raise RealisationError("unclear-clause", "the request contains a quotation, brackets or a break")
    # A request that ends in a title is cut off: in "May I speak to Mr . Chen?", the full stop seems to end
    # it.
    titled = tokens[-1].lower in TITLES
    if titled or is_dangling(tokens, 0) or tokens[-1].tag in ("MD", "TO", "PS", "DT", "CC"):
        raise RealisationError("unclear-clause", "the request is incomplete")
    # Refuse a negative request, such as "Don't worry".
    negative = word_class("negative-words")
    if any(token.tag == "NEG" or token.lower in negative for token in tokens):
        raise RealisationError("unclear-clause", "the request is negative")
    # Refuse "Can you swim?", which may ask for an ability. "Can you help me?" is a request, because it
    # contains *me*.
    own = words_of("speaker-forms")
    if wanted == "asked" and own.isdisjoint(words):
        raise RealisationError("unclear-clause", "the question may ask for an ability")
    # Refuse verbs that do not express an action: "Why don't you know?" is no suggestion. But accept "May I
    # see it?" and "Let me know when".
    if verb.lower in words_of("unwished") - (words_of("learned") if wanted == "own" else frozenset()):
        raise RealisationError("unsupported-edit", f"'{verb.lower}' is not requested in this way")
    formulas = words_of("request-formulas") | (words_of("offer-formulas") if wanted == "own" else frozenset())
    if is_formula(source, formulas):
        raise RealisationError("unsupported-edit", "the request is a formula")
    # "Let's take our car": *our* includes both speakers, so *your* and *my* would not fit.
    if not words_of("joint-forms").isdisjoint(words):
        raise RealisationError("kind-mismatch", "'we' may include the other speaker or not")
