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
# Roles of clauses that depend on the statement: "I stay if it rains."
_DEPENDENT_ROLES = frozenset(
    {"condition", "concession", "cause", "cause-of", "condition-of", "concession-of"}
)


@cache
def _classes() -> dict[str, frozenset[str]]:
    rows = unique_rows([row for row in table_rows("graphneg.editing", _TABLE) if any(row)], _TABLE)
    return {name: frozenset(words.split(" ")) for name, words in rows.items()}


def _words(name: str) -> frozenset[str]:
    """Return the words of a class of the table ``context_twins.tsv``."""
    return _classes()[name]


def edits_of_statement(say: Edit, changes: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return the edits that give an earlier statement the changes of the reply that repeats it.

    Args:
        say: The edit that repeats the statement, with the operation ``say``.
        changes: The edits that change the copy.

    Returns:
        The edits of the statement's graph.

    Example:
        A reply drops the modality of "I want to wash my car" and puts the copy under ``obligate-01``. The
        turn is replaced by its own clause with the same changes: "I have to wash my car."
    """
    amr = say.from_amr or ""
    if not _is_restated(changes):
        return tuple(edit._replace(amr=amr, copy_of=None) for edit in changes)
    claim = say._replace(amr=amr, voice="own", frame="claim")
    return (claim, *(edit._replace(amr=amr, copy_of=amr) for edit in changes))


def _is_restated(changes: Sequence[Edit]) -> bool:
    """Return whether the changes can be written only in a clause that is repeated without its modality.

    "I want to go" becomes "I have to go" or "I've already gone" in this way, and "many" becomes "only a few".
    """
    return len(changes) != 1 or is_quantifier(changes[0].concept or "")


def refusal_of_texts(
    turns: Sequence[StoredTurn], reply: int, say: Edit, changes: Sequence[Edit]
) -> str | None:
    """Return why the statement that a reply repeats cannot be edited, as far as the texts show it.

    Args:
        turns: The turns of the dialogue.
        reply: The number of the turn that the reply replaces.
        say: The edit that repeats the statement.
        changes: The edits that change the copy.

    Returns:
        The reason; None if the texts allow the edit.
    """
    frame = reply_frame(say.frame or "", say.voice or "")
    # A: "I don't like tea." B: "But you said you don't like tea." objects to nothing.
    if frame is None or frame.context_twin != "yes":
        return f"in the frame {say.frame!r}, the reply is not right after the edited statement either"
    # "Please sit down" is repeated as "you want me to sit down". The request itself has no such words.
    if say.concept is not None:
        return "a request is repeated in other words"
    # "My sister lives in Rome" becomes "You live in Rome", which the addressee knows better.
    if any(edit.op == "set" and edit.concept in PRONOUNS for edit in changes):
        return "the statement would be about another person"
    by_number = {turn.turn: turn for turn in turns}
    said = by_number.get(reply - 1)
    # If there are turns between the statement and the reply, they answer the unedited statement.
    if said is None or said.graph_id != say.from_amr:
        return "turns between the statement and the reply answer the unedited statement"
    # A: "I like tea. How about you?" B: "So you don't like tea?" does not answer the question.
    if "?" in said.text:
        return "the turn before the reply asks a question"
    asked = by_number.get(reply - 2)
    # B: "Do you like tea?" A: "I like it." The edited statement would have to be an answer, too.
    if asked is not None and "?" in asked.text and _is_yes_no_question(asked.text):
        return "the statement answers a yes/no question"
    # B: "Where do you work?" A: "I don't work at a bank." is no answer. "I work at a school" is one.
    if asked is not None and "?" in asked.text and not _replaces_argument(changes):
        return "the statement answers a question"
    words = [token.text.lower() for token in tokenize(said.text)]
    # "Yes, I like tea." "But I like tea." "Thanks, I like tea."
    if words[:1] and words[0] in _words("answer-openings"):
        return f"the turn begins with {words[0]!r}, which may not fit the edited statement"
    # "I like tea, too." "I like tea, but I hate coffee."
    related = next((word for word in words if word in _words("relating-words")), None)
    if related is not None:
        return f"{related!r} relates the statement to another one"
    return _refusal_of_sentences(said.text, changes)


def _refusal_of_sentences(text: str, changes: Sequence[Edit]) -> str | None:
    """Return why the other sentences of a turn do not allow an edit of its statement."""
    parts = [part.text for part in typed_sentences(text) if _WORD.search(part.text)]
    # "I don't like tea. I drink it every day."
    claims = [part for part in parts if not _is_greeting(part)]
    if len(claims) > 1:
        return "another sentence of the turn may depend on the statement"
    # A statement that is restated replaces the whole turn.
    if len(parts) > 1 and _is_restated(changes):
        return "the other sentences of the turn would be lost"
    return None


def _is_greeting(sentence: str) -> bool:
    """Return whether a sentence such as "Hello, Mr. Brown." says nothing about other sentences."""
    words = [token.text for token in tokenize(sentence) if _WORD.search(token.text)]
    known = _words("greetings")
    first, *others = words
    return first.lower() in known and all(word.lower() in known or word[0].isupper() for word in others)


def _is_yes_no_question(text: str) -> bool:
    """Return whether a text contains a question without a question word."""
    asked = [part.text for part in typed_sentences(text) if "?" in part.text]
    return any(
        _words("question-words").isdisjoint(token.text.lower() for token in tokenize(part)) for part in asked
    )


def _replaces_argument(changes: Sequence[Edit]) -> bool:
    """Return whether the only change is another word, such as another thing, time or number."""
    return len(changes) == 1 and changes[0].op == "set"


def refusal_of_clauses(said: Reading, claim: ClauseReading) -> str | None:
    """Return why the graph of a turn does not allow an edit of its statement.

    Args:
        said: The clauses of the unedited turn.
        claim: The statement.

    Returns:
        The reason; None if the graph allows the edit.
    """
    view = said.view
    top = view.sentences[claim.head]
    # "I want it because it is cheap." "I'm tired, but she works."
    if claim.head != top:
        return "the statement is a part of a longer sentence"
    if any(view.is_a(k, "linking", "joining") and view.labels[k] != "and" for k in view.inside(top)):
        return "another clause depends on the statement"
    # "I stay if it rains."
    if any(view.roles[k].removesuffix("-of") in _DEPENDENT_ROLES for k in view.inside(top)):
        return "another clause depends on the statement"
    return None


def repeated_word(said: Reading, changes: Sequence[Edit], others: Iterable[Reading]) -> str | None:
    """Return a replaced word that the context contains elsewhere, too; None if there is none.

    B: "This car is new." A: "I want to buy the car." If A wanted to buy a bike, A would not answer B.

    Args:
        said: The unedited turn.
        changes: The edits that change the copy of the statement.
        others: The other turns of the context.

    Returns:
        The concept or constant.
    """
    replaced = {edit.position: said.view.labels[edit.position] for edit in changes if edit.op == "set"}
    for k, label in replaced.items():
        again = [at for at, other in enumerate(said.view.labels) if other == label and at != k]
        if again or any(label in other.view.labels for other in others):
            return label
    return None
