"""Make the twin of a negative: a correct reply with the same wording, but without the error.

A negative and its twin are a minimal pair. A judge that prefers the negative cannot have noticed the error,
and a judge that rejects both has noticed only that the replies are edited. There are two kinds of twins:

- If the negative is a composed reply, it repeats an earlier clause with a change. Its twin repeats the clause
  without the change.
- If the negative is an edited response of the dialogue, its twin is the response before the edit.

    A: I want to get my car washed.
    negative: So you don't want to get your car washed?
    twin:     So you want to get your car washed?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from graphneg.editing.planning import EditPlan, EditSettings
from graphneg.editing.variants import Variant, negative_from_variant, unedited
from graphneg.english.reply_frames import reply_frame
from graphneg.english.tokens import match_key
from graphneg.model import TWIN, Edit, Negative


def twin_id(id: str) -> str:
    """Return the id of the twin of a negative.

    >>> twin_id("everyday/test/42#3~all.0.1")
    'everyday/test/42#3~all.0.1.twin'

    Args:
        id: Id of the negative.

    Returns:
        The id of the twin.
    """
    return f"{id}.{TWIN}"


def twin_edits(settings: EditSettings, plan: EditPlan) -> tuple[Edit, ...] | str:
    """Return the edits that make the twin of a planned negative.

    Args:
        settings: Recipe, target and seed.
        plan: The plan of the negative.

    Returns:
        The edits; none if the twin is the unedited right reply. If there is no twin, the reason (``no-twin:
        ...``).
    """
    saying = [edit for edit in plan.edits if edit.op == "say"]
    if not saying:
        if settings.target == "response":
            return ()
        return "no-twin: no edit of the whole dialogue is known that would leave it coherent"
    [say, *others] = saying
    if others or any(edit.copy_of != say.from_amr for edit in plan.edits if edit is not say):
        return "no-twin: the negative has several edits"
    if not can_have_twin(plan.edits):
        return f"no-twin: without a change, a reply in the frame {say.frame!r} is not right"
    # A: "I like the big star. How's the food?" B: "So you like the big star?" does not answer the question.
    turns = plan.dialogue.turns
    reply = next((k for k, turn in enumerate(turns) if turn.graph_id == say.amr), plan.turn)
    if "?" in turns[reply - 1].text:
        return "no-twin: the turn before the reply asks a question, which the twin would not answer"
    return (say,)


def can_have_twin(edits: Iterable[Edit]) -> bool:
    """Return whether a composed reply can be correct if it repeats an earlier clause without a change.

    This depends on the reply frame. After "I like tea", "So you like tea?" is correct, but "But you said you
    like tea" objects to a claim that nobody has made.

    Args:
        edits: The edits of a negative.

    Returns:
        True if the reply can be correct. Also true if the edits do not compose a reply.
    """
    frames = [reply_frame(edit.frame or "", edit.voice or "") for edit in edits if edit.op == "say"]
    return all(frame is not None and frame.allows_unchanged == "yes" for frame in frames)


def twin_of(
    settings: EditSettings,
    plan: EditPlan,
    negative: Negative,
    variant: Variant | None,
    texts: Mapping[int, str],
) -> Negative | str:
    """Build the record of a twin.

    Args:
        settings: Recipe, target and seed.
        plan: The plan of the negative.
        negative: The negative.
        variant: The edited graphs of the twin; None if the twin is the unedited right reply.
        texts: The decoded texts of the twin, keyed by turn number.

    Returns:
        A record with label 1; a reason (``no-twin: ...``) if the record has the same text as the negative.
    """
    if variant is None:
        twin = unedited(plan.dialogue, plan.id, plan.turn, label=1)
    else:
        twin = negative_from_variant(settings, plan, variant, texts, negative.decoder)
    if _texts(twin) == _texts(negative):
        return "no-twin: the negative and its twin have the same text"
    return msgspec.structs.replace(
        twin,
        id=twin_id(negative.id),
        label=1,
        categories=(),
        recipe=TWIN,
        target=settings.target,
        seed=settings.seed,
        error_type=None,
        evidence=None,
        distance=None,
        pair=negative.id,
        proved=negative.proved,
    )


def _texts(record: Negative) -> list[str]:
    return [match_key(text) for text in (*(turn.text for turn in record.context), record.response)]
