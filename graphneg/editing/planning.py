"""Plan the edits of negatives: choose transforms first, then sites among their proposals.

The input is dialogues with the numbers of the negatives to make (slots). The output is an `EditPlan` for each
slot. Transforms are asked for proposals only when a slot needs them.

Every choice is a hash of the seed, the recipe, the slot and the dialogue. Therefore a plan does not depend on
the batch, the order of dialogues or the server.
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
"""The sites that are used already, by dialogue: pairs of transform and site."""
Ask = Callable[[str, Sequence[StoredDialogue]], Proposals]


@dataclass(frozen=True, slots=True)
class EditSettings:
    """What to make of each dialogue.

    Attributes:
        recipe: Recipe to follow.
        target: What may be edited: any turn, or the response alone.
        seed: Seed of all choices.
    """

    recipe: Recipe
    target: Target
    seed: int
    candidates: int = CANDIDATES
    """Number of sites to sample for each edit; the one with the highest score is edited. At least 1."""
    version: str = ""
    """Suffix for the ids of negatives that a user's own transform files make; see `version_of`."""

    def __post_init__(self) -> None:
        """Check the number of candidates."""
        if self.candidates < 1:
            raise InputError("candidates: must be at least 1")


@dataclass(frozen=True, slots=True)
class EditPlan:
    """The planned edits of one negative.

    Attributes:
        id: Id of the negative.
        dialogue: Dialogue to edit.
        slot: Number of the negative among those of its dialogue, from 0.
        turn: Turn of the response.
        edits: The edits in their order; empty if no site was found.
    """

    id: str
    dialogue: StoredDialogue
    slot: int
    turn: int
    edits: tuple[Edit, ...]


@dataclass(slots=True)
class _Slot:
    """One negative in the making: the transforms that are left to try, and the edits planned so far."""

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
        """Return the strings that the slot's choices are hashed with."""
        return (settings.recipe.name, str(self.number), self.dialogue.id)

    @property
    def next(self) -> str | None:
        """The transform to try next, or None if the slot is full or no transform is left."""
        if self.applied >= self.amount or not self.groups:
            return None
        return self.groups[0][0]

    def take(self, proposal: Proposal, edits: Sequence[Edit]) -> None:
        """Add the edits of a proposal to the plan."""
        self.proposals.append(proposal)
        self.edits.extend(edits)
        self.graphs.update(edit.amr for edit in edits)

    def leave(self, sites: int) -> None:
        """Move to the next group, or to the next transform of the group if this one found no sites."""
        self.groups[0].pop(0)
        if sites:
            self.applied += 1
        if sites or not self.groups[0]:
            self.groups.pop(0)


def editable(dialogue: StoredDialogue) -> StoredDialogue:
    """Return a dialogue without the graphs that may not be edited.

    Graphs of turns that are hardly English or longer than `LONGEST_EDITED` characters are removed. They are
    neither edited nor copied from.

    Args:
        dialogue: Dialogue with the graphs of its turns.

    Returns:
        The dialogue itself if all graphs may be edited, else a copy.
    """
    if not any(map(_left_alone, dialogue.turns)):
        return dialogue
    turns = (replace(turn, amr=None) if _left_alone(turn) else turn for turn in dialogue.turns)
    return replace(dialogue, turns=tuple(turns))


def unfit(dialogue: StoredDialogue, target: Target) -> str | None:
    """Return why a dialogue gives no negative, whatever the transforms find.

    Args:
        dialogue: Dialogue with the graphs of its turns.
        target: What may be edited: any turn, or the response alone.

    Returns:
        A code and a sentence (``no-context: ...``), or None if the dialogue may give a negative.
    """
    if len(dialogue.turns) == 1:
        return "no-context: a dialogue of one turn leaves a negative without a context"
    # The first turn has no context, so that it cannot be a response.
    turns = dialogue.turns[target == "response" :]
    with_graphs = [turn for turn in turns if turn.amr is not None]
    if not with_graphs:
        which = "turn of the dialogue" if len(turns) == len(dialogue.turns) else "turn that answers another"
        return f"no-graph: no {which} has an AMR graph"
    reasons = [_left_alone(turn) for turn in with_graphs]
    return reasons[0] if all(reasons) else None


def _left_alone(turn: StoredTurn) -> str | None:
    """Return why a turn is not edited, or None if it may be."""
    if turn.foreign:
        return "not-english: few words of the text are English"
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
    """Plan the edits of negatives.

    Transforms are drawn before they are asked for proposals, and each one is asked once for all dialogues
    that need it. If a transform finds no site in a dialogue, the next one drawn replaces it. Sites that an
    earlier negative of the dialogue used come last. In recipes of one edit they are not used at all, because
    they would give the same negative again.

    Args:
        settings: Recipe, target and seed.
        dialogues: Dialogues to edit.
        slots: Numbers of the negatives to plan, by id of the dialogue.
        ask: Function that returns the proposals of a transform for some dialogues.
        taken: Sites that are used already, by dialogue; the call adds those that it uses.

    Returns:
        A plan for each slot whose dialogue has a graph that may be edited.
    """
    open_slots = [
        slot
        for dialogue in dialogues
        for at in slots.get(dialogue.id, ())
        if (slot := _slot(settings, dialogue, at)) is not None
    ]
    known: dict[str, dict[str, Sequence[Proposal]]] = {}
    taken = defaultdict(set) if taken is None else taken
    # Each round asks for what the slots need next and fills them as far as that goes, until none moves.
    while True:
        _fetch(open_slots, known, ask)
        moved = False
        for slot in open_slots:
            own = taken[slot.dialogue.id]
            while (name := slot.next) is not None and slot.dialogue.id in known.get(name, {}):
                _try(settings, slot, name, known[name][slot.dialogue.id], own)
                moved = True
            # The next slot of the dialogue avoids these sites.
            own.update((one.transform, one.site) for one in slot.proposals)
        if not moved:
            return [_planned(settings, slot) for slot in open_slots]


def _slot(settings: EditSettings, dialogue: StoredDialogue, at: int) -> _Slot | None:
    """Draw the groups, the order of transforms and the turn of a negative."""
    names = (settings.recipe.name, str(at), dialogue.id)
    drawn = settings.recipe.group_order(settings.seed, *names)
    groups = [shuffled(group, settings.seed, "transform", *names) for group in drawn]
    span = settings.recipe.most - settings.recipe.least + 1
    # How many of the drawn groups to apply, uniformly between the recipe's limits.
    wanted = settings.recipe.least + number(settings.seed, "how many", *names) % span
    if settings.target == "dialogue":
        graphs = frozenset(dialogue.graphs)
        return _Slot(dialogue, at, dialogue.turns[-1].turn, graphs, wanted, groups) if graphs else None
    responses = [turn for turn in dialogue.turns[1:] if turn.amr is not None]
    if not responses:
        return None
    # The slot number is not hashed: successive negatives of a dialogue go through its turns in one order.
    order = shuffled(range(len(responses)), settings.seed, "turn", settings.recipe.name, dialogue.id)
    turn = responses[order[at % len(order)]]
    return _Slot(dialogue, at, turn.turn, frozenset({turn.amr or ""}), wanted, groups)


def _fetch(slots: Sequence[_Slot], known: dict[str, dict[str, Sequence[Proposal]]], ask: Ask) -> None:
    """Ask each transform for the dialogues that need it and have not been asked for."""
    asked: dict[str, dict[str, StoredDialogue]] = {}
    for slot in slots:
        # The first transforms of the next groups: the slot tries these whatever they find.
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
    """Give free sites of a transform to the slot: of the sampled sites, those with the highest scores."""
    names = (name, *slot.names(settings))
    # A random order of the sites that depends on their names alone, not on the order of the query.
    ranked = sorted(proposals, key=lambda one: (number(settings.seed, "site", *names, one.site), one.site))
    # Sites that an earlier negative used come last; the sort keeps the random order otherwise.
    ranked.sort(key=lambda one: (one.transform, one.site) in taken)
    # A negative of one edit at a used site would read the same as an earlier one.
    single = settings.recipe.most == 1
    wanted, found = settings.recipe.times(name, len(slot.editable)), 0
    free = (one for one in ranked if not single or (one.transform, one.site) not in taken)
    # Lazy: the edits of most sites are never built.
    makeable = ((one, edits) for one in free if (edits := _edits(settings, slot, one, ranked)))
    drawn = list(islice(makeable, wanted * settings.candidates))
    for proposal, edits in sorted(drawn, key=lambda one: -one[0].score):
        # A graph is edited at most once in a negative.
        if found < wanted and slot.graphs.isdisjoint(edit.amr for edit in edits):
            slot.take(proposal, edits)
            found += 1
    slot.leave(found)


def _edits(
    settings: EditSettings, slot: _Slot, proposal: Proposal, ranked: Sequence[Proposal]
) -> tuple[Edit, ...]:
    """Return the edits of a proposal if they are allowed for the slot, else none."""
    # In a response, "You can go" for "I can go" may be right as well.
    if settings.recipe.passes_over(proposal.for_target, settings.target):
        return ()
    if proposal.pool is None:
        # With the target "response", only the response may change.
        if not proposal.graphs <= slot.editable:
            return ()
        # Nothing is copied from turns after the response: a negative ends there.
        unsaid = {turn.amr for turn in slot.dialogue.turns if turn.turn > slot.turn}
        copied = {edit.from_amr for edit in proposal.edits if edit.from_amr is not None}
        return proposal.edits if not copied & unsaid else ()
    # A swap needs a partner in the turns that the negative contains.
    said = {turn.amr for turn in slot.dialogue.turns if turn.turn <= slot.turn}
    for other in ranked:
        # The two members of a pool are swapped; a half that would edit a turn outside the target is left out.
        fits = other.pool == proposal.pool and not _alike(proposal.own, other.own)
        if fits and other.graphs <= said and not other.graphs & proposal.graphs:
            return tuple(edit for edit in paired(proposal, other) if edit.amr in slot.editable)
    return ()


def _alike(own: str | None, other: str | None) -> bool:
    """Return whether the words of one are among those of the other, as in ``Brown`` and ``John Brown``."""
    if own == other or own is None or other is None:
        return own == other
    words, others = set(own.split()), set(other.split())
    # "Brown" for "John Brown" would name the same person.
    return words <= others or others <= words


def _planned(settings: EditSettings, slot: _Slot) -> EditPlan:
    """Return the plan of a slot."""
    id = f"{slot.dialogue.id}#{slot.turn}~{settings.recipe.name}.{settings.seed}.{slot.number}"
    id += f".{settings.version}" if settings.version else ""
    return EditPlan(id, slot.dialogue, slot.number, slot.turn, tuple(slot.edits))
