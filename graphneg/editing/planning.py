"""Plans the edits of each dialogue: transforms first, sites among their proposals then.

Dialogues with numbers of slots go in, an `EditPlan` for each slot comes out; transforms are asked for
proposals on the way. Every choice is a hash of (seed, recipe, slot, dialogue, ...), so it depends on nothing
else: not on the batch, the order or the server.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from graphneg.editing.proposals import LONGEST_EDITED, Proposal, paired
from graphneg.editing.recipes import CANDIDATES, Recipe, Target
from graphneg.errors import InputError
from graphneg.hashing import number, shuffled
from graphneg.model import Edit
from graphneg.store.dialogues import StoredDialogue, StoredTurn

Proposals = Mapping[str, Sequence[Proposal]]
Taken = defaultdict[str, set[tuple[str, str]]]
"""By dialogue, the sites that are taken: transform and site."""
Ask = Callable[[str, Sequence[StoredDialogue]], Proposals]


@dataclass(frozen=True, slots=True)
class EditSettings:
    """What to make of each dialogue: a recipe, a target, a seed."""

    recipe: Recipe
    target: Target
    seed: int
    candidates: int = CANDIDATES
    """Of so many sites that are drawn the one with the highest score is edited."""
    version: str = ""
    """Ends the ids of negatives whose transforms are files of one's own."""

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise InputError("at least one candidate for each edit, please")


@dataclass(frozen=True, slots=True)
class EditPlan:
    """The edits of one negative. ``turn`` is the response's; no edits: no site was found."""

    id: str
    dialogue: StoredDialogue
    slot: int
    turn: int
    edits: tuple[Edit, ...]


@dataclass(slots=True)
class _Slot:
    """One negative in the making: which transforms are still to be tried, what is planned."""

    dialogue: StoredDialogue
    number: int
    turn: int
    editable: frozenset[str]
    amount: int
    groups: list[list[str]]
    applied: int = 0
    proposals: list[Proposal] = field(default_factory=list[Proposal])
    edits: list[Edit] = field(default_factory=list[Edit])
    graphs: set[str] = field(default_factory=set[str])

    def names(self, settings: EditSettings) -> tuple[str, ...]:
        """What the slot's choices are hashed with."""
        return (settings.recipe.name, str(self.number), self.dialogue.id)

    @property
    def next(self) -> str | None:
        """The transform to try next; none when the slot is filled or nothing is left."""
        if self.applied >= self.amount or not self.groups:
            return None
        return self.groups[0][0]

    def take(self, proposal: Proposal, edits: Sequence[Edit]) -> None:
        """Plan the edits of a proposal."""
        self.proposals.append(proposal)
        self.edits.extend(edits)
        self.graphs.update(edit.amr for edit in edits)

    def leave(self, sites: int) -> None:
        """Go on to the next group, or, where the transform found no sites, to the next of its group."""
        self.groups[0].pop(0)
        if sites:
            self.applied += 1
        if sites or not self.groups[0]:
            self.groups.pop(0)


def editable(dialogue: StoredDialogue) -> StoredDialogue:
    """The dialogue with those graphs alone that may be edited, or copied from: no graph of a turn that is
    hardly English, or longer than `LONGEST_EDITED` characters."""
    if not any(map(_left_alone, dialogue.turns)):
        return dialogue
    turns = (replace(turn, amr=None) if _left_alone(turn) else turn for turn in dialogue.turns)
    return replace(dialogue, turns=tuple(turns))


def unfit(dialogue: StoredDialogue, target: Target) -> str | None:
    """Why a dialogue gives no negative, whatever the transforms find; none where it may give one."""
    if len(dialogue.turns) == 1:
        return "no-context: a dialogue of one turn leaves a negative without a context"
    turns = dialogue.turns[target == "response" :]
    with_graphs = [turn for turn in turns if turn.amr is not None]
    if not with_graphs:
        which = "turn of the dialogue" if len(turns) == len(dialogue.turns) else "turn that answers another"
        return f"no-graph: no {which} has an AMR graph"
    reasons = [_left_alone(turn) for turn in with_graphs]
    return reasons[0] if all(reasons) else None


def _left_alone(turn: StoredTurn) -> str | None:
    """Why a turn is not edited, if it is not."""
    if turn.foreign:
        return "not-english: the text is hardly English"
    if len(turn.text) > LONGEST_EDITED:
        return f"too-long: the text is longer than {LONGEST_EDITED:,} characters"
    return None


def plan_edits(
    settings: EditSettings,
    dialogues: Sequence[StoredDialogue],
    slots: Mapping[str, Sequence[int]],
    ask: Ask,
    taken: Taken | None = None,
) -> list[EditPlan]:
    """Fill the slots of each dialogue (by id: numbers of slots), asking for proposals as needed.

    Transforms are drawn before they are asked, and each is asked once for all dialogues that
    want it. What finds no site gives way to the next one drawn. Sites that an earlier slot of the
    dialogue took (``taken``, which grows) are left to it where others are free; where a negative is one edit,
    which would be the same again, always.
    """
    open_slots = [
        slot
        for dialogue in dialogues
        for at in slots.get(dialogue.id, ())
        if (slot := _slot(settings, dialogue, at)) is not None
    ]
    known: dict[str, dict[str, Sequence[Proposal]]] = {}
    taken = defaultdict(set) if taken is None else taken
    while True:
        _fetch(open_slots, known, ask)
        moved = False
        for slot in open_slots:
            own = taken[slot.dialogue.id]
            while (name := slot.next) is not None and slot.dialogue.id in known.get(name, {}):
                _try(settings, slot, name, known[name][slot.dialogue.id], own)
                moved = True
            own.update((one.transform, one.site) for one in slot.proposals)
        if not moved:
            return [_planned(settings, slot) for slot in open_slots]


def _slot(settings: EditSettings, dialogue: StoredDialogue, at: int) -> _Slot | None:
    names = (settings.recipe.name, str(at), dialogue.id)
    drawn = dict.fromkeys(shuffled(settings.recipe.draws, settings.seed, "group", *names))
    groups = [shuffled(group, settings.seed, "transform", *names) for group in drawn]
    span = settings.recipe.most - settings.recipe.least + 1
    wanted = settings.recipe.least + number(settings.seed, "how many", *names) % span
    if settings.target == "dialogue":
        graphs = frozenset(dialogue.graphs)
        return _Slot(dialogue, at, dialogue.turns[-1].turn, graphs, wanted, groups) if graphs else None
    responses = [turn for turn in dialogue.turns[1:] if turn.amr is not None]
    if not responses:
        return None
    order = shuffled(range(len(responses)), settings.seed, "turn", settings.recipe.name, dialogue.id)
    turn = responses[order[at % len(order)]]
    return _Slot(dialogue, at, turn.turn, frozenset({turn.amr or ""}), wanted, groups)


def _fetch(slots: Sequence[_Slot], known: dict[str, dict[str, Sequence[Proposal]]], ask: Ask) -> None:
    """Ask each transform for the dialogues that will want it and have not been asked for."""
    asked: dict[str, dict[str, StoredDialogue]] = {}
    for slot in slots:  # what it will try whatever that finds: the first of as many groups as are wanted
        for name in (group[0] for group in slot.groups[: slot.amount - slot.applied]):
            if slot.dialogue.id not in known.get(name, {}):
                asked.setdefault(name, {})[slot.dialogue.id] = slot.dialogue
    for name in sorted(asked):
        answer = ask(name, list(asked[name].values()))
        for id in asked[name]:
            known.setdefault(name, {})[id] = answer.get(id, ())


def _try(
    settings: EditSettings, slot: _Slot, name: str, proposals: Sequence[Proposal], taken: set[tuple[str, str]]
) -> None:
    """Give the slot free sites of this transform: of the first candidates, in the slot's own order of sites,
    those with the highest scores."""
    names = (name, *slot.names(settings))
    ranked = sorted(proposals, key=lambda one: (number(settings.seed, "site", *names, one.site), one.site))
    ranked.sort(key=lambda one: (one.transform, one.site) in taken)
    single = settings.recipe.most == 1
    wanted, found = settings.recipe.times(name, len(slot.editable)), 0
    free = (one for one in ranked if not single or (one.transform, one.site) not in taken)
    makeable = ((one, edits) for one in free if (edits := _edits(settings, slot, one, ranked)))
    drawn = list(islice(makeable, wanted * settings.candidates))
    for proposal, edits in sorted(drawn, key=lambda one: -one[0].score):
        if found < wanted and slot.graphs.isdisjoint(edit.amr for edit in edits):
            slot.take(proposal, edits)
            found += 1
    slot.leave(found)


def _edits(
    settings: EditSettings, slot: _Slot, proposal: Proposal, ranked: Sequence[Proposal]
) -> tuple[Edit, ...]:
    """The proposal's edits, where they touch only what may be edited and copy nothing said later. Of a pool's
    swap, the half that may be made."""
    if settings.recipe.passes_over(proposal.for_target, settings.target):
        return ()
    if proposal.pool is None:
        if not proposal.graphs <= slot.editable:
            return ()
        unsaid = {turn.amr for turn in slot.dialogue.turns if turn.turn > slot.turn}
        copied = {edit.from_amr for edit in proposal.edits if edit.from_amr is not None}
        return proposal.edits if not copied & unsaid else ()
    said = {turn.amr for turn in slot.dialogue.turns if turn.turn <= slot.turn}
    for other in ranked:
        fits = other.pool == proposal.pool and not _alike(proposal.own, other.own)
        if fits and other.graphs <= said and not other.graphs & proposal.graphs:
            return tuple(edit for edit in paired(proposal, other) if edit.amr in slot.editable)
    return ()


def _alike(own: str | None, other: str | None) -> bool:
    """Whether one says what the other says, and perhaps more: ``Brown`` and ``John Brown``."""
    if own == other or own is None or other is None:
        return own == other
    words, others = set(own.split()), set(other.split())
    return words <= others or others <= words


def _planned(settings: EditSettings, slot: _Slot) -> EditPlan:
    id = f"{slot.dialogue.id}#{slot.turn}~{settings.recipe.name}.{settings.seed}.{slot.number}"
    id += f".{settings.version}" if settings.version else ""
    return EditPlan(id, slot.dialogue, slot.number, slot.turn, tuple(slot.edits))
