"""Make the twin of a negative: a correct reply with the same wording, but without the error.

A negative and its twin are a minimal pair. A judge that prefers the negative cannot have noticed the error,
and a judge that rejects both has noticed only that the replies are edited. There are three kinds of twins. If
the negative is an edited response of the dialogue, its twin is the response before the edit. If the negative
repeats an earlier clause with a change, it has one of two kinds of twins:

- The reply repeats the clause without the change.

      A: I want to get my car washed.
      negative: So you don't want to get your car washed?
      twin:     So you want to get your car washed?

- The reply stays as in the negative, and the earlier clause gets the change, too (see
  `graphneg.editing.context_twins`). Then the words of the reply do not show which record is the negative.

      negative: A: I want to get my car washed.        B: Why don't you want to get your car washed?
      twin:     A: I don't want to get my car washed.  B: Why don't you want to get your car washed?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from graphneg.editing.context_twins import changes_other_words, edits_of_statement, refusal_of_texts
from graphneg.editing.decoding import DecodedTurns, checked_texts
from graphneg.editing.planning import EditPlan, EditSettings
from graphneg.editing.proof import Prover, Verdict, copied_clause, graphs_before
from graphneg.editing.proposals import Proposal
from graphneg.editing.variants import Variant, edited_utterances, negative_from_variant, unedited
from graphneg.english.reply_frames import reply_frame
from graphneg.english.tokens import match_key
from graphneg.hashing import number
from graphneg.model import TWIN, Edit, EditedUtterance, Negative
from graphneg.store.dialogues import GraphCache, StoredDialogue

Kind = Literal["unedited", "reply", "context"]
"""How a twin differs from its negative.

- ``unedited``: its response is the response of the dialogue, without any edit.
- ``reply``: its response repeats the earlier clause without the change.
- ``context``: it has the response of the negative, and the clause in its context has the change.
"""


_ODDS = 4
"""If both kinds of twins of a composed reply can be made, one in this number of negatives gets a twin with an
unedited context.

If the change adds a negation or turns *I* into *you*, only one in this number of negatives can have a twin
without the change.
Changes that remove a negation are about as frequent as these, so that a classifier of words can hardly use
*not* to tell negatives from twins.
"""

_NEGATED = "of the negative and this twin, only the negative would contain a negation"

_ADDRESSED = "only the negative would be about its addressee"

_REPLACED = "the whole reply was replaced, so the right reply is not the same reply without the error"


def proposals_with_twins(
    dialogue: StoredDialogue, proposals: Sequence[Proposal], settings: EditSettings
) -> Sequence[Proposal]:
    """Keep the proposed edits for which a twin can be made, if there are any.

    A twin is the correct counterpart of a negative. Its reply is without the error, or its context is edited,
    so that the reply of the negative is right. If proposals of the second kind exist, only these are kept,
    because few contexts can be edited. If no proposal can have a twin, all are returned; the negative is then
    refused with the reason ``no-twin``.

    Args:
        dialogue: The dialogue to edit.
        proposals: The edits that a transform proposes for the dialogue.
        settings: Recipe, target and seed.

    Returns:
        Some of the proposals, in the same order.
    """
    numbers = {turn.graph_id: turn.turn for turn in dialogue.turns}
    last = dialogue.turns[-1].turn

    def kinds(proposal: Proposal) -> frozenset[Kind]:
        response = numbers[next(iter(proposal.graphs))] if settings.target == "response" else last
        return _possible_kinds(settings.seed, dialogue, response, proposal.edits)

    known = [(one, kinds(one)) for one in proposals]
    found = [one for one, some in known if "context" in some] or [one for one, some in known if some]
    return found or proposals


class PlannedTwins:
    """The possible twins of the negatives of one planning round.

    A twin is the correct counterpart of a negative. The edits of both are applied and decoded together. The
    edited graphs of a twin are stored under an id that this class forms.

    Args:
        settings: Recipe, target and seed.
        plans: The plans of the negatives; plans without edits are skipped.
        prover: Checks whether the edited context of a twin contradicts itself.
        graph_cache: Cache for the unedited graphs.
    """

    def __init__(
        self, settings: EditSettings, plans: Sequence[EditPlan], prover: Prover, graph_cache: GraphCache
    ) -> None:
        self._settings, self._prover, self._graph_cache = settings, prover, graph_cache
        self._twins: dict[str, list[_PlannedTwin]] = {}
        self._refused: dict[str, str] = {}
        for plan in plans:
            if not plan.edits:
                continue
            found = _planned_twins(settings, plan)
            if isinstance(found, str):
                self._refused[plan.id] = found
            else:
                self._twins[plan.id] = found

    def edits(self) -> dict[str, tuple[Edit, ...]]:
        """Return the edits of each twin, keyed by the id of its variant (its edited graphs).

        A twin that is the unedited dialogue has no edits and is left out.
        """
        return {
            _variant_id(id, twin.kind): twin.edits
            for id, twins in self._twins.items()
            for twin in twins
            if twin.edits
        }

    def refusal(self, id: str, variants: Mapping[str, Variant]) -> str | None:
        """Return why no twin of a negative is possible, judged by the edits and graphs of the twins.

        Args:
            id: The id of the negative.
            variants: The edited graphs of negatives and twins, keyed by the id of the variant.

        Returns:
            The reason (``no-twin: ...``); None if a twin is still possible.
        """
        if id in self._refused:
            return self._refused[id]
        variants_of = [variants.get(_variant_id(id, twin.kind)) for twin in self._twins.get(id, ())]
        faults = [None if variant is None else variant.fault for variant in variants_of]
        return f"no-twin: {faults[0]}" if faults and all(faults) else None

    def utterances(
        self, plan: EditPlan, variants: Mapping[str, Variant]
    ) -> dict[str, dict[int, EditedUtterance]]:
        """Return the edited turns of the twins of a negative, which a decoder then turns into texts.

        Args:
            plan: The plan of the negative.
            variants: The edited graphs of negatives and twins, keyed by the id of the variant.

        Returns:
            The edited turns, keyed by the id of the variant and by turn number.
        """
        asked: dict[str, dict[int, EditedUtterance]] = {}
        for twin in self._twins.get(plan.id, ()):
            variant = variants.get(_variant_id(plan.id, twin.kind))
            if variant is not None and variant.fault is None:
                turns = edited_utterances(plan.dialogue, variant)
                # If only the context of a twin is edited, its response is that of the negative. So decode
                # only the context.
                if twin.kind == "context":
                    turns.pop(plan.turn, None)
                asked[variant.id] = turns
        return asked

    def record(
        self,
        plan: EditPlan,
        negative: Negative,
        variants: Mapping[str, Variant],
        decoded: Mapping[str, DecodedTurns],
        verdict: Verdict,
    ) -> Negative | str:
        """Build the record of the twin of a negative. If several twins are possible, try them in order.

        Args:
            plan: The plan of the negative.
            negative: The negative.
            variants: The edited graphs of negatives and twins, keyed by the id of the variant.
            decoded: The decoded turns of negatives and twins, keyed by the id of the variant.
            verdict: Whether the error of the negative is proved, and which turn its twin contradicts.

        Returns:
            A record with label 1. If all twins are refused, the reason for the first of them, after the code
            ``no-twin``.
        """
        reasons: list[str] = []
        for twin in self._twins[plan.id]:
            variant = variants.get(_variant_id(plan.id, twin.kind))
            found = self._record(plan, negative, twin.kind, variant, decoded, verdict)
            if not isinstance(found, str):
                return found
            reasons.append(found)
        return f"no-twin: {reasons[0]}"

    def _record(
        self,
        plan: EditPlan,
        negative: Negative,
        kind: Kind,
        variant: Variant | None,
        decoded: Mapping[str, DecodedTurns],
        verdict: Verdict,
    ) -> Negative | str:
        """Build the record of a twin, or return why it cannot be made."""
        if variant is None:
            return _record_of(self._settings, plan, negative, None, {})
        if variant.fault is not None:
            return variant.fault
        texts, reason = checked_texts(decoded[variant.id])
        if reason is not None:
            return reason
        if kind == "reply" and verdict.contradicted is not None:
            return f"the twin would contradict turn {verdict.contradicted}"
        if kind == "context":
            reason = self._context_refusal(plan, variant, texts)
            if reason is not None:
                return reason
            texts[plan.turn] = negative.response
        return _record_of(self._settings, plan, negative, variant, texts)

    def _context_refusal(self, plan: EditPlan, variant: Variant, texts: Mapping[int, str]) -> str | None:
        """Return why a twin with an edited context is refused; None if it is not.

        For example, the edited turn may contradict another turn of the context.
        """
        copied = copied_clause(plan.dialogue, plan.edits)
        if copied is None:
            return "the negative repeats no clause"
        source = copied.source_turn
        if changes_other_words(source.text, texts[source.turn], copied.changes):
            return "the edit changes other words of the statement, too"
        graphs = self._graph_cache.get(set(graphs_before(plan.dialogue, copied)), plan.dialogue.digests)
        edited = variant.graphs[source.graph_id or ""].after
        return self._prover.check_context(plan.dialogue, copied, graphs, edited)


def twin_id(id: str) -> str:
    """Return the id of the twin of a negative, which is its correct counterpart.

    >>> twin_id("everyday/test/42#3~all.0.1")
    'everyday/test/42#3~all.0.1.twin'

    Args:
        id: Id of the negative.

    Returns:
        The id of the twin.
    """
    return f"{id}.{TWIN}"


def _variant_id(id: str, kind: Kind) -> str:
    """Return the id under which the edited graphs of a twin are stored.

    The id contains the kind of the twin, because twins of several kinds may be tried for one negative.
    """
    return f"{twin_id(id)}.{kind}"


class _PlannedTwin(NamedTuple):
    """A possible twin of a planned negative. It may still be refused when its texts are known.

    Attributes:
        kind: How the twin differs from its negative (see `Kind`).
        edits: The edits of the twin; empty if the twin is the unedited dialogue.
    """

    kind: Kind
    edits: tuple[Edit, ...] = ()


def _planned_twins(settings: EditSettings, plan: EditPlan) -> list[_PlannedTwin] | str:
    """Return the possible twins of a planned negative, in the order in which to try them.

    If a reply repeats a statement with a change, two kinds of twins are possible: the reply without the
    change, or the same reply after a statement that has the change, too. If both are possible, the second
    kind is tried first in three of four cases, which a hash of the id selects. Few statements can be edited,
    so both kinds become about equally frequent.

    Returns:
        A list of at least one twin; if no twin is possible, the reason (``no-twin: ...``).
    """
    saying = [edit for edit in plan.edits if edit.op == "say"]
    if not saying:
        if settings.target == "response":
            if _replaces_turn(plan.edits):
                return f"no-twin: {_REPLACED}"
            if not _appends_sentence(plan.edits):
                if _only_negative_addresses(settings.seed, plan.dialogue, plan.edits):
                    return f"no-twin: {_ADDRESSED}"
                return [_PlannedTwin("unedited")]
            if _only_negative_negated(settings.seed, plan.dialogue, plan.edits):
                return f"no-twin: {_NEGATED}"
            return [_PlannedTwin("reply", tuple(edit for edit in plan.edits if edit.copy_of is None))]
        return "no-twin: no edit of the whole dialogue is known that would leave it coherent"
    [say, *others] = saying
    changes = tuple(edit for edit in plan.edits if edit is not say)
    if others or any(edit.copy_of != say.from_amr for edit in changes):
        return "no-twin: the negative has several edits"
    reasons = _refusals(settings.seed, plan.dialogue, plan.turn, say, changes)
    order: list[Kind] = ["context", "reply"]
    if number(settings.seed, "twin", plan.id) % _ODDS == 0:
        order.reverse()
    kinds: list[Kind] = [kind for kind in order if reasons[kind] is None]
    if not kinds:
        return f"no-twin: {reasons['reply']}"
    said = next(turn for turn in plan.dialogue.turns if turn.graph_id == say.from_amr)
    edits: dict[Kind, tuple[Edit, ...]] = {
        "reply": (say,),
        "context": (*edits_of_statement(said, say, changes), *plan.edits),
    }
    return [_PlannedTwin(kind, edits[kind]) for kind in kinds]


def _possible_kinds(seed: int, dialogue: StoredDialogue, last: int, edits: Sequence[Edit]) -> frozenset[Kind]:
    """Return the kinds of twins that a negative may have (see `Kind`), judged by its edits and the texts.

    Returns:
        The kinds; empty if no twin is possible.
    """
    say = next((edit for edit in edits if edit.op == "say"), None)
    if say is None:
        if _replaces_turn(edits):
            return frozenset()
        if not _appends_sentence(edits):
            told = _only_negative_addresses(seed, dialogue, edits)
            return frozenset[Kind]() if told else frozenset({"unedited"})
        return frozenset[Kind]() if _only_negative_negated(seed, dialogue, edits) else frozenset({"reply"})
    reasons = _refusals(seed, dialogue, last, say, [edit for edit in edits if edit is not say])
    return frozenset(kind for kind, reason in reasons.items() if reason is None)


def _refusals(
    seed: int, dialogue: StoredDialogue, last: int, say: Edit, changes: Sequence[Edit]
) -> dict[Kind, str | None]:
    """Find out which kinds of twins a reply with a changed statement can have.

    The reply repeats an earlier statement with a change. In the twin ``reply``, the reply is without the
    change. In the twin ``context``, the earlier statement has the change, too.

    Returns:
        For each kind, the reason why this twin would not be correct; None if it would be.
    """
    turns = dialogue.turns
    reply = next((k for k, turn in enumerate(turns) if turn.graph_id == say.amr), last)
    frame = reply_frame(say.frame or "", say.voice or "")
    unchanged = None
    # The twin repeats a statement without a change. After "I like tea", "So you like tea?" is correct, but
    # not "But you said you like tea": nobody has denied it.
    if frame is None or frame.allows_unchanged != "yes":
        unchanged = f"without a change, a reply in the frame {say.frame!r} is not right"
    # A: "I like the big star. How's the food?" B: "So you like the big star?" does not answer the question.
    elif "?" in turns[reply - 1].text:
        unchanged = "the turn before the reply asks a question, which the twin would not answer"
    elif _only_negative_negated(seed, dialogue, changes):
        unchanged = _NEGATED
    edited = refusal_of_texts(turns, turns[reply].turn, say, changes)
    # If there are turns after the reply, they answer the unedited statement, and may not fit the edited one.
    if edited is None and turns[reply].turn != last:
        edited = "turns after the reply answer the unedited statement"
    return {"reply": unchanged, "context": edited}


def _replaces_turn(edits: Iterable[Edit]) -> bool:
    """Return whether an edit replaces a whole turn by a copied sentence.

    The wrong reply then has no words in common with the correct reply that it replaces, so the two are not a
    minimal pair.
    """
    return any(edit.op == "graft" and edit.role is None and edit.position <= 0 for edit in edits)


def _appends_sentence(edits: Iterable[Edit]) -> bool:
    """Return whether a copied sentence is added to a reply: "I'll do it. (She hates letters.)"."""
    return any(edit.op == "graft" and edit.role == "snt" for edit in edits)


def _only_negative_negated(seed: int, dialogue: StoredDialogue, edits: Iterable[Edit]) -> bool:
    """Return whether to refuse a twin because only the negative contains a negation.

    After "I like tea", the negative "So you don't like tea?" contains *not*, but its twin "So you like tea?"
    does not. If all such twins were accepted, *not* would reveal the negative. So accept only one in `_ODDS`
    of them, which a hash of the site selects.
    """
    negation = next((edit for edit in edits if edit.op == "add" and edit.role == "polarity"), None)
    return negation is not None and number(seed, "negation", dialogue.id, negation.site) % _ODDS != 0


def _only_negative_addresses(seed: int, dialogue: StoredDialogue, edits: Iterable[Edit]) -> bool:
    """Return whether to refuse a twin because the edits only turn *I* into *you*.

    After "How are you?", the negative is "You're fine", and its twin is "I'm fine". If all such twins were
    accepted, *you* would reveal the negative. So accept only one in `_ODDS` of them, as in
    `_only_negative_negated`.
    """
    edits = tuple(edits)
    told = bool(edits) and all((edit.op, edit.concept) == ("set", "you") for edit in edits)
    return told and number(seed, "addressed", dialogue.id, edits[0].site) % _ODDS != 0


def _record_of(
    settings: EditSettings,
    plan: EditPlan,
    negative: Negative,
    variant: Variant | None,
    texts: Mapping[int, str],
) -> Negative | str:
    """Build the record of a twin, the correct counterpart of a negative.

    Returns:
        A record with label 1. If it has the same text as the negative, a message that says so.
    """
    if variant is None:
        twin = unedited(plan.dialogue, plan.id, plan.turn, label=1)
    else:
        twin = negative_from_variant(settings, plan, variant, texts, negative.decoder)
    if _texts(twin) == _texts(negative):
        return "the negative and its twin have the same text"
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
