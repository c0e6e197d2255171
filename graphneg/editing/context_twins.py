"""Find out whether an earlier statement can be edited in the same way as the reply that repeats it.

A composed reply repeats a statement of the turn before it with a change. If the statement gets the same
change, the reply is right. Such a pair of a negative and its twin has equal replies, and only the context
tells them apart:

    negative   A: I like tea.         B: Why don't you like tea?
    twin       A: I don't like tea.   B: Why don't you like tea?

The edited context must be one that people could write. `refusal_of_texts` checks the texts of the turns, and
`refusal_of_clauses` the graph of the edited turn. `graphneg.editing.proof` compares the edited turn with the
rest of the dialogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise, takewhile

from graphneg.amr.concept_words import PRONOUNS
from graphneg.decoders.surface.operations.quantifiers import is_quantifier
from graphneg.discourse import ClauseReading, Reading
from graphneg.english.reply_frames import reply_frame
from graphneg.english.tokens import tokenize, typed_sentences
from graphneg.english.words import table_rows, unique_rows
from graphneg.model import Edit
from graphneg.store.dialogues import StoredTurn

_TABLE = "context_twins.tsv"
_WORD = re.compile(r"\w")
_WHOLE = 100
_LONGEST_NUMBER = 4
"""Maximum number of words of a replaced number: "one hundred and twenty"."""
# Roles of clauses that depend on the statement: "I stay if it rains."
_DEPENDENT_ROLES = frozenset(
    {"condition", "concession", "cause", "cause-of", "condition-of", "concession-of"}
)


@cache
def _classes() -> dict[str, frozenset[str]]:
    rows = unique_rows([row for row in table_rows("graphneg.editing", _TABLE) if any(row)], _TABLE)
    return {name: frozenset(words.split(" ")) for name, words in rows.items()}


def _words(name: str) -> frozenset[str]:
    """Return the words of one row of ``context_twins.tsv``, such as the row ``greetings``."""
    return _classes()[name]


def edits_of_statement(said: StoredTurn, say: Edit, changes: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return the edits that change an earlier statement in the same way as the reply that repeats it.

    Args:
        said: The turn that contains the statement.
        say: The edit that repeats the statement, with the operation ``say``.
        changes: The edits that change the copy of the statement in the reply.

    Returns:
        The edits of the graph of the turn ``said``.

    Example:
        After "I want to wash my car", a reply asks "Why do you have to wash your car?". The returned edits
        turn the statement into "I have to wash my car."
    """
    amr = say.from_amr or ""
    if not _is_restated(said.text, changes):
        return tuple(edit._replace(amr=amr, copy_of=None) for edit in changes)
    claim = say._replace(amr=amr, voice="own", frame="claim")
    return (claim, *(edit._replace(amr=amr, copy_of=amr) for edit in changes))


def _is_restated(text: str, changes: Sequence[Edit]) -> bool:
    """Return whether the whole turn must be replaced by the changed statement.

    If a negation is added or a word is replaced, the other words of the turn are kept: "I like tea, Ann"
    becomes "I don't like tea, Ann". For all other changes, such as "I have to go" for "I want to go", only
    the changed statement is kept. The same is done if the turn begins with an opening such as "Great, ...",
    which might not fit.
    """
    if not (_replaces_word(changes) or _changes_polarity(changes)) or is_quantifier(changes[0].concept or ""):
        return True
    return _first_word(text) in _words("openings")


def _first_word(text: str) -> str:
    return next((token.text.lower() for token in tokenize(text)), "")


def refusal_of_texts(
    turns: Sequence[StoredTurn], reply: int, say: Edit, changes: Sequence[Edit]
) -> str | None:
    """Return why an earlier statement cannot be changed in the same way as the reply that repeats it.

    This function checks the texts of the turns. `refusal_of_clauses` checks their graphs.

    Args:
        turns: The turns of the dialogue.
        reply: The number of the turn that the reply replaces.
        say: The edit that copies the statement into the reply.
        changes: The edits that change the copy.

    Returns:
        The reason; None if the texts allow the change of the statement.
    """
    frame = reply_frame(say.frame or "", say.voice or "")
    # Refuse reply frames such as "But you said ...", in which the reply is right after neither statement.
    # "But you said you don't like tea" contradicts "I like tea". After "I don't like tea", there is nothing
    # to object to.
    if frame is None or frame.allows_context_twin != "yes":
        return f"in the frame {say.frame!r}, the reply is wrong after the edited statement, too"
    # Refuse requests. "Please sit down" is repeated in other words: "So you want me to sit down?" An edit of
    # "want" cannot be applied to the request.
    if say.concept is not None:
        return "a request is repeated in other words"
    # Refuse a change of the person. If "My sister lives in Rome" became "You live in Rome", the speaker would
    # say something that the other speaker knows already.
    if any(edit.op == "set" and edit.concept in PRONOUNS for edit in changes):
        return "the statement would be about another person"
    by_number = {turn.turn: turn for turn in turns}
    said = by_number.get(reply - 1)
    # The statement must be in the turn just before the reply. A turn between the statement and the reply
    # answers the unedited statement, and may not fit the edited statement.
    if said is None or said.graph_id != say.from_amr:
        return "turns between the statement and the reply answer the unedited statement"
    # Refuse a turn with a question, because the reply does not answer the question. A: "I like tea. How about
    # you?" B: "So you don't like tea?"
    if "?" in said.text:
        return "the turn before the reply asks a question"
    asked = by_number.get(reply - 2)
    found = _refusal_of_answer(asked.text, changes) if asked is not None else None
    return found or _refusal_of_words(said.text, say.frame or "", changes)


def _refusal_of_answer(asked: str, changes: Sequence[Edit]) -> str | None:
    """Return a reason if the edited statement may no longer answer a question in the turn before it."""
    questions = [part.text for part in typed_sentences(asked) if "?" in part.text]
    # Nearly any wish or fact answers an offer: "May I help you?" "I have to return these books." So allow all
    # changes except a negation.
    if not questions or (_is_offer(questions[-1]) and not _changes_polarity(changes)):
        return None
    # Refuse an answer to a yes/no question: "I like tea" answers "Do you like tea?", but the edited statement
    # "I like coffee" does not.
    if any(_words("question-words").isdisjoint(_words_of(question)) for question in questions):
        return "the statement answers a yes/no question"
    # In an answer to a question such as "Where do you work?", only a word may be replaced. "I work at a
    # school" is an answer, as "I work at a bank" is, but "I don't work at a bank" is not.
    return None if _replaces_word(changes) else "the statement answers a question"


def _is_offer(question: str) -> bool:
    """Return whether a question offers help: "May I help you?", "What can I do for you?"."""
    words = _words_of(question)
    return "i" in words and ("help" in words or words[-3:] == ["do", "for", "you"])


def _words_of(text: str) -> list[str]:
    return [token.text.lower() for token in tokenize(text) if _WORD.search(token.text) or token.text == "%"]


def _refusal_of_words(text: str, frame: str, changes: Sequence[Edit]) -> str | None:
    """Return a reason if other words or sentences of the turn may not fit the edited statement."""
    first = _first_word(text)
    # Refuse a turn that begins with *yes*, *but* or a similar word, which answers the turn before it or
    # objects to it. "Yes, I don't like tea" may not fit where "Yes, I like tea" fits.
    if first in _words("answers") | _words("links"):
        return f"the turn begins with {first!r}, which may not fit the edited statement"
    # Refuse a turn with another statement, as in "I'm tired. I want to go home." Nobody says "I'm tired. I
    # don't want to go home." If only a thing, time or number is replaced, both statements usually still fit.
    parts = [part.text for part in typed_sentences(text) if _WORD.search(part.text)]
    claims = [part for part in parts if not _is_greeting(part) and not _is_opening(part)]
    if len(claims) > 1 and not _replaces_word(changes):
        return "another sentence of the turn may depend on the statement"
    # Refuse a turn in which a word refers to the statement, such as *so* in "It closes at six. So hurry up."
    # "So hurry up" may not fit "It closes at ten."
    for part in claims[1:]:
        referring = next((word for word in _words_of(part) if word in _words("referring-words")), None)
        if referring is not None:
            return f"{referring!r} may refer to the statement"
    # If the changed statement replaces the whole turn, the other sentences of the turn are lost.
    if len(claims) > 1 and _is_restated(text, changes):
        return "the other sentences of the turn would be lost"
    # Refuse lists, because an edit would change only one item: "I have three sisters, a brother, and my
    # parents."
    if claims and claims[-1].count(",") > 1:
        return "the statement is a list"
    # Refuse statements with a word that relates them to another statement, such as *too* in "I like tea, too"
    # and *but* in "I like tea, but I hate coffee". Words such as *so* in "It's so nice" relate a statement to
    # an expectation. They are allowed only if a thing, time or number is replaced.
    kept = frozenset[str]() if _replaces_word(changes) else _words("measuring-words")
    words = _words_of(text)
    phrases = (f"{one}_{other}" for one, other in pairwise(words))
    related = next((one for one in (*words, *phrases) if one in _words("relating-words") | kept), None)
    if related is not None:
        return f"{related!r} relates the statement to another one"
    return _refusal_of_reason(words, frame, changes)


def _refusal_of_reason(words: Sequence[str], frame: str, changes: Sequence[Edit]) -> str | None:
    """Return a reason if nobody would say the edited statement, or nobody would ask about it.

    For example, nobody asks "Why isn't it late?". The frame says how the reply repeats the statement: the
    frame ``why`` makes it a question for the reason.
    """
    spoken = [word for word in words if word not in _words("openings")]
    # Refuse an impersonal statement. "It isn't late" is a normal statement, but nobody asks for its reason:
    # "Why isn't it late?"
    is_explained = frame in ("why", "surprise") and not _replaces_word(changes)
    if is_explained and spoken[:1] and spoken[0] in _words("impersonal-subjects"):
        return "nobody knows a reason for an impersonal statement"
    # In the frame "Why ...?", refuse to add *already*, and to replace a word of a statement with *can*. "I've
    # already found it" and "I can find it" are normal statements, but nobody asks "Why have you already found
    # it?" or "Why can you find it?".
    is_done = any(edit.role == "time" for edit in changes)
    is_possible = _replaces_word(changes) and not _words("modals").isdisjoint(words)
    if frame == "why" and (is_done or is_possible):
        return "nobody asks for the reason of such a statement"
    # Refuse to remove *no*, which may be part of a phrase: "I had no idea" is not the opposite of "I had an
    # idea".
    if any(edit.op == "drop" for edit in changes) and "no" in words[1:]:
        return "the negation is a part of a phrase"
    # Refuse to change "a hundred": only *hundred* would be replaced, which gives "I've called a 200 times".
    values = [edit.value for edit in changes if edit.value is not None and edit.op == "set"]
    if values and any(one == "a" and other in _words("multipliers") for one, other in pairwise(words)):
        return "the number begins with 'a'"
    # Refuse more than 100%, as in "It's 200% cotton".
    if "%" in words and any(value.isdigit() and int(value) > _WHOLE for value in values):
        return "a share is at most 100%"
    return None


def _is_greeting(sentence: str) -> bool:
    """Return whether a sentence is only a greeting, such as "Hello, Mr. Brown."."""
    first, *others = [token.text for token in tokenize(sentence) if _WORD.search(token.text)]
    known = _words("greetings")
    return first.lower() in known and all(word.lower() in known or word[0].isupper() for word in others)


def _is_opening(sentence: str) -> bool:
    """Return whether a sentence is only a reaction to the turn before it, such as "Oh, great."."""
    return all(word in _words("openings") for word in _words_of(sentence))


def _changes_polarity(changes: Sequence[Edit]) -> bool:
    """Return whether the edits consist of one added or dropped negation."""
    return len(changes) == 1 and _is_polarity(changes[0])


def _is_polarity(change: Edit) -> bool:
    return change.op == "drop" or (change.op, change.role) == ("add", "polarity")


def _replaces_word(changes: Sequence[Edit]) -> bool:
    """Return whether the edits consist of one replaced word: another thing, time or number."""
    return len(changes) == 1 and changes[0].op == "set"


def refusal_of_clauses(said: Reading, claim: ClauseReading, changes: Sequence[Edit]) -> str | None:
    """Return why an earlier statement cannot be changed in the same way as the reply that repeats it.

    This function checks the graph of the turn. `refusal_of_texts` checks the texts of the dialogue.

    Args:
        said: All clauses of the unedited turn.
        claim: The clause that is the statement.
        changes: The edits that change the copy of the statement in the reply.

    Returns:
        The reason; None if the graph allows the change of the statement.
    """
    view = said.view
    top = view.sentences[claim.head]
    # Refuse predicates such as *know*. In "I know you are late", an edit of *know* does not change what the
    # speaker takes for granted, that is, "you are late".
    if view.labels[claim.head] in _words("embedding"):
        return "the predicate takes the statement for granted"
    # Refuse a statement in a longer sentence, such as "I'm tired, but she works." "I'm not tired" would not
    # fit the rest of the sentence.
    if claim.head != top:
        return "the statement is a part of a longer sentence"
    if any(view.is_a(k, "linking", "joining") and view.labels[k] != "and" for k in view.descendants(top)):
        return "another clause depends on the statement"
    # Refuse an elliptic clause such as "I can't right now", because its negation cannot be dropped.
    if view.is_a(claim.head, "modal") and not any(view.is_frame[k] for k in view.descendants(claim.head)):
        return "the statement has no verb"
    # Do not replace nouns without a determiner, because they are often parts of a phrase: *bed* in "I go to
    # bed".
    bare = {one.position for one in said.mentions if (one.kind, one.definiteness) == ("noun", "bare")}
    if any(edit.op == "set" and edit.value is None and edit.position in bare for edit in changes):
        return "the replaced noun has no determiner"
    # Refuse a statement with a condition: in "I stay if it rains", the condition may not fit the edited
    # statement "I don't stay".
    if any(view.roles[k].removesuffix("-of") in _DEPENDENT_ROLES for k in view.descendants(top)):
        return "another clause depends on the statement"
    # If the turn has several sentences, refuse to replace a verb or a modifier. In "I love the hat. It's
    # cheap.", the second sentence does not fit "I hate the hat", but it fits "I love the coat".
    changed = [edit.position for edit in changes if edit.op == "set"]
    if view.is_multiple and any(
        k in (claim.head, claim.core) or view.is_frame[k] or view.roles[k] == "mod" for k in changed
    ):
        return "another sentence of the turn may depend on the statement"
    return None


def changes_other_words(before: str, after: str, changes: Sequence[Edit]) -> bool:
    """Return whether the replacement of one word has also changed other words of the turn.

    If *now* in "I'm hungry now" is replaced by *yesterday*, the decoder writes "I was hungry yesterday". This
    turn may no longer fit the turns before it.

    Args:
        before: The text of the turn.
        after: The text of the edited turn.
        changes: The edits of the turn.

    Returns:
        True if the edits replace one word and the texts differ in more words. False if the edits do not
        replace a word.
    """
    if not _replaces_word(changes):
        return False
    # Count *a* and *an* as the same word: "an apple" may become "a pear".
    old, new = (["a" if word == "an" else word for word in text.split()] for text in (before, after))
    same = list(takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    rest = zip(reversed(old[len(same) :]), reversed(new[len(same) :]), strict=False)
    last = list(takewhile(lambda pair: pair[0] == pair[1], rest))
    is_number = changes[0].value is not None
    return len(old) - len(same) - len(last) > (_LONGEST_NUMBER if is_number else 1)


def repeated_word(said: Reading, changes: Sequence[Edit], others: Iterable[Reading]) -> str | None:
    """Return a word that the edits replace, and that the context also contains elsewhere.

    B: "This car is new." A: "I want to buy the car." If *car* were replaced only in A's turn, "I want to buy
    the bike" would not fit B's turn.

    Args:
        said: The turn in which a word is replaced, before the edit.
        changes: The edits that replace the word.
        others: The other turns of the context.

    Returns:
        The concept or constant; None if the context does not repeat a replaced word.
    """
    replaced = {edit.position: said.view.labels[edit.position] for edit in changes if edit.op == "set"}
    for k, label in replaced.items():
        again = [at for at, other in enumerate(said.view.labels) if other == label and at != k]
        if again or any(label in other.view.labels for other in others):
            return label
    return None
