"""Plan the edits of negatives: choose transforms first, then some of the sites that they propose.

A site is a place in a dialogue where a transform applies. The negatives to make from a dialogue are
numbered; each number is called a slot. The input is dialogues with their slots, and the output is an
`EditPlan` for each slot. The query of a transform is run only when a slot has chosen the transform.

Every random choice is made by a hash of the seed, the recipe, the slot and the dialogue. Therefore a plan
does not depend on the batch, the order of dialogues or the server.
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
"""Sites, sentences and statements that the next negatives of a dialogue avoid, keyed by dialogue id. Each of
them is a pair of texts. For an edited site, these are the names of the transform and of the site; for a
sentence that was copied from another dialogue, its graph id and node index. For a statement that a reply has
repeated, or that the decoder cannot repeat, they are the name of the transform and the place of the
statement."""
Ask = Callable[[str, Sequence[StoredDialogue]], Proposals]


@dataclass(frozen=True, slots=True)
class EditSettings:
    """The settings for planning negatives.

    Attributes:
        recipe: The recipe, which chooses the transforms.
        target: Turns that may be edited: any turn of the dialogue (``dialogue``), or only the response
            (``response``).
        seed: Seed for all random choices.
    """

    recipe: Recipe
    target: Target
    seed: int
    sites: int = CANDIDATES
    """Number of sites to sample for each edit, at least 1. Of these, the site with the highest score is
    edited."""
    version: str = ""
    """Suffix for the ids of negatives if a user's own transform files make them; see `version_of`."""

    def __post_init__(self) -> None:
        """Check that at least one site is sampled for each edit."""
        if self.sites < 1:
            raise InputError(f"sites must be at least 1, not {self.sites}")


@dataclass(frozen=True, slots=True)
class EditPlan:
    """The planned edits of one negative.

    Attributes:
        id: Id of the negative.
        dialogue: The dialogue to edit.
        slot: Number of the negative among the negatives to make from the dialogue, from 0.
        turn: Index of the turn that becomes the response of the negative, from 0.
        edits: The edits, in the order in which to apply them; empty if no transform found a place to edit.
    """

    id: str
    dialogue: StoredDialogue
    slot: int
    turn: int
    edits: tuple[Edit, ...]


@dataclass(slots=True)
class _Slot:
    """A negative that is being planned, with the transforms that are left to try.

    Attributes:
        responses: If only the response is edited, the turns that can become the response, in the order in
            which to try them. The turn of the first edit becomes the response.
        groups: The groups of transforms that are left to try. At most one transform of a group is applied. In
            a recipe with one edit per negative, each group is listed twice at first.
        fresh_groups: Number of groups at the start of ``groups`` that must not repeat a statement again:
            their transforms skip statements that they repeat in an earlier negative of the dialogue.
    """

    dialogue: StoredDialogue
    number: int
    turn: int
    editable: frozenset[str]
    responses: tuple[StoredTurn, ...]
    amount: int
    groups: list[list[str]]
    fresh_groups: int = 0
    applied: int = 0
    proposals: list[Proposal] = field(default_factory=list[Proposal])
    edits: list[Edit] = field(default_factory=list[Edit])
    graphs: set[str] = field(default_factory=set[str])

    def names(self, settings: EditSettings) -> tuple[str, ...]:
        """Return the recipe, slot and dialogue, which determine random choices together with the seed."""
        return (settings.recipe.name, str(self.number), self.dialogue.id)

    @property
    def next(self) -> str | None:
        """The transform to try next; None if the negative is complete or no transform is left."""
        if self.applied >= self.amount or not self.groups:
            return None
        return self.groups[0][0]

    def answer_at(self, response: StoredTurn) -> None:
        """Set the turn that becomes the response of the negative. No other turn may then be edited."""
        self.turn, self.editable = response.turn, frozenset({response.graph_id or ""})

    def take(self, proposal: Proposal, edits: Sequence[Edit]) -> None:
        """Add a proposal and its edits to the plan."""
        self.proposals.append(proposal)
        self.edits.extend(edits)
        self.graphs.update(edit.amr for edit in edits)

    def leave(self, sites: int) -> None:
        """Remove the transform that was just tried from the transforms that are left to try.

        ``sites`` is the number of places where the transform was applied. If it is not 0, the whole group of
        the transform is removed, because only one transform of each group is applied. Otherwise the next
        transform of the same group is tried.
        """
        self.groups[0].pop(0)
        if sites:
            self.applied += 1
        if sites or not self.groups[0]:
            self.groups.pop(0)
            self.fresh_groups -= 1


def editable(dialogue: StoredDialogue) -> StoredDialogue:
    """Return a dialogue without the graphs that must not be edited.

    A turn loses its graph if its text is hardly English or longer than `LONGEST_EDITED` characters. Such
    graphs are neither edited nor used as a source of copied subtrees.

    Args:
        dialogue: Dialogue with the graphs of its turns.

    Returns:
        The dialogue itself if all its graphs may be edited, otherwise a copy without the graphs that may not.
    """
    if not any(map(skip_reason, dialogue.turns)):
        return dialogue
    turns = (replace(turn, graph_id=None) if skip_reason(turn) else turn for turn in dialogue.turns)
    return replace(dialogue, turns=tuple(turns))


def refusal_reason(dialogue: StoredDialogue, target: Target) -> str | None:
    """Return why no negative can be made from a dialogue, whatever transforms are used.

    Args:
        dialogue: Dialogue with the graphs of its turns.
        target: Turns that may be edited: any turn (``dialogue``), or the response alone (``response``).

    Returns:
        A code and an explanation (``no-context: ...``), or None if transforms may be able to make negatives.
    """
    if len(dialogue.turns) == 1:
        return "no-context: a dialogue of one turn leaves a negative without a context"
    # The first turn has no context before it, so it cannot be a response.
    turns = dialogue.turns[target == "response" :]
    with_graphs = [turn for turn in turns if turn.graph_id is not None]
    if not with_graphs:
        which = "turn of the dialogue" if len(turns) == len(dialogue.turns) else "turn that answers another"
        return f"no-graph: no {which} has an AMR graph"
    reasons = [skip_reason(turn) for turn in with_graphs]
    return reasons[0] if all(reasons) else None


def skip_reason(turn: StoredTurn) -> str | None:
    """Return why a turn must not be edited.

    Args:
        turn: Turn of a dialogue.

    Returns:
        A code and an explanation (``not-english: ...`` or ``too-long: ...``); None if the turn may be edited.
    """
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

    For each negative, the transforms are drawn before any query is run. The query of a transform is then run
    once for all dialogues that need this transform. If a transform finds no site (place to edit) in a
    dialogue, the next drawn transform replaces it. Sites that an earlier negative of the dialogue has used
    are tried last. In recipes that make only one edit per negative, used sites are not tried at all, because
    the result would be the same negative again.

    Args:
        settings: Recipe, target and seed.
        dialogues: The dialogues to edit.
        slots: Numbers of the negatives to plan, keyed by dialogue id.
        ask: Function that takes the name of a transform and some dialogues, and returns the proposals of the
            transform, keyed by dialogue id.
        taken: Sites that earlier negatives have used, keyed by dialogue id. The sites that this call uses are
            added.

    Returns:
        A plan for each number in ``slots`` whose dialogue has a graph that may be edited.
    """
    open_slots = [
        slot
        for dialogue in dialogues
        for at in slots.get(dialogue.id, ())
        if (slot := _slot(settings, dialogue, at)) is not None
    ]
    known: dict[str, dict[str, Sequence[Proposal]]] = {}
    taken = defaultdict(set) if taken is None else taken
    # A slot is an attempt to plan a negative. Each round first runs the queries that the attempts wait for.
    # Then each attempt continues until it needs another query. Stop after a round in which no attempt has
    # continued.
    while True:
        _fetch(open_slots, known, ask)
        moved = False
        for slot in open_slots:
            own = taken[slot.dialogue.id]
            while (name := slot.next) is not None and slot.dialogue.id in known.get(name, {}):
                _try(settings, slot, name, known[name][slot.dialogue.id], own)
                moved = True
            # Mark the edited sites as used, so that the next negatives of the dialogue avoid them.
            for one in slot.proposals:
                own |= _used(one, slot.dialogue) | _statements(one)
        if not moved:
            return [_planned(settings, slot) for slot in open_slots]


def _slot(settings: EditSettings, dialogue: StoredDialogue, at: int) -> _Slot | None:
    """Choose at random which transforms to try for a negative, and which turn becomes its response.

    Returns:
        The negative to plan, or None if the dialogue has no graph that may be edited.
    """
    names = (settings.recipe.name, str(at), dialogue.id)
    drawn = settings.recipe.group_order(settings.seed, *names)
    groups = [shuffled(group, settings.seed, "transform", *names) for group in drawn]
    span = settings.recipe.max_groups - settings.recipe.min_groups + 1
    # The number of groups of transforms to apply is drawn uniformly between the limits of the recipe.
    wanted = settings.recipe.min_groups + number(settings.seed, "how many", *names) % span
    # "Why did you charge it on Sunday?" and "I'm surprised you charged it on Sunday" repeat the same
    # statement, and are nearly the same negative. So if a recipe makes one edit per negative, try all groups
    # of transforms twice: first only on statements that the transform has not repeated yet, then on all
    # statements.
    fresh = len(groups) if settings.recipe.max_groups == 1 else 0
    groups += [list(group) for group in groups[:fresh]]
    if settings.target == "dialogue":
        graphs = frozenset(dialogue.graphs)
        last = dialogue.turns[-1].turn
        return _Slot(dialogue, at, last, graphs, (), wanted, groups, fresh) if graphs else None
    responses = [turn for turn in dialogue.turns[1:] if turn.graph_id is not None]
    if not responses:
        return None
    # Shuffle the turns in the same way for all negatives of a dialogue. The first attempt to make a negative
    # begins with the first turn in this order, the second attempt with the second turn, and so on. If
    # a transform finds no site in this turn, the next turns in this order are tried.
    order = shuffled(range(len(responses)), settings.seed, "turn", settings.recipe.name, dialogue.id)
    first = at % len(order)
    turns = tuple(responses[index] for index in order[first:] + order[:first])
    slot = _Slot(dialogue, at, turns[0].turn, frozenset(), turns, wanted, groups, fresh)
    slot.answer_at(turns[0])
    return slot


def _fetch(slots: Sequence[_Slot], known: dict[str, dict[str, Sequence[Proposal]]], ask: Ask) -> None:
    """Run the queries of the transforms that are tried next, and add their results to ``known``.

    A query is not run for dialogues whose results are already in ``known``.

    Args:
        slots: The negatives that still need edits.
        known: Results of queries, keyed by transform and dialogue id.
        ask: Function that runs the query of a transform on dialogues.
    """
    asked: dict[str, dict[str, StoredDialogue]] = {}
    for slot in slots:
        # If a negative still needs two edits, the first transforms of the next two groups will be tried in
        # any case. So run the queries of both transforms in the same round.
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
    """Plan the edits of one transform for a negative.

    Places to edit (sites) are sampled at random. Sites that no earlier negative has used come first. Among
    the sampled sites, those with the highest scores are edited.
    """
    names = (name, *slot.names(settings))
    # The random order depends only on the names of the sites, not on the order in which the query returns
    # them.
    ranked = sorted(proposals, key=lambda one: (number(settings.seed, "site", *names, one.site), one.site))
    # Put the sites that no earlier negative has used before the others. Both parts keep their random order.
    used: list[Proposal] = []
    unused: list[Proposal] = []
    for one in ranked:
        (unused if taken.isdisjoint(_used(one, slot.dialogue)) else used).append(one)
    ranked = unused + used
    # If a recipe makes only one edit per negative, a used site would give the same negative again, so the
    # site is not used a second time.
    single = settings.recipe.max_groups == 1
    found = 0
    for response in slot.responses or (None,):
        if response is not None:
            slot.answer_at(response)
        wanted = settings.recipe.times(name, len(slot.editable))
        # Use a generator, so that the edits of a site are built only if the site is sampled. Most sites are
        # never sampled. Check first whether the site is in a turn that may be edited, which is fast.
        makeable = (
            (one, edits)
            for one in (unused if single else ranked)
            if (edits := _edits(settings, slot, one, ranked))
            and (not single or taken.isdisjoint(refused_statements(one)))
            and (slot.fresh_groups <= 0 or taken.isdisjoint(_statements(one)))
        )
        drawn = list(islice(makeable, wanted * settings.sites))
        for proposal, edits in sorted(drawn, key=lambda one: -one[0].score):
            # Skip a site if its graph is edited already: a negative edits each graph at one site only.
            if found < wanted and slot.graphs.isdisjoint(edit.amr for edit in edits):
                slot.take(proposal, edits)
                found += 1
        if found:
            # If the edit is in a response, all further edits of this negative must be in the same response.
            slot.responses = () if response is None else (response,)
            break
    else:
        if slot.responses:
            slot.answer_at(slot.responses[0])
    slot.leave(found)


def _used(proposal: Proposal, dialogue: StoredDialogue) -> set[tuple[str, str]]:
    """Return the site of a proposal, and the sentences that its edits copy from other dialogues.

    Later negatives of the dialogue avoid this site, and all sites that copy one of these sentences, as long
    as other sites are left.
    """
    return {(proposal.transform, proposal.site)} | {
        copied for copied in proposal.copied if copied[0] not in dialogue.graphs
    }


def refused_statements(proposal: Proposal | EditPlan) -> set[tuple[str, str]]:
    """Return the keys with which the statements in a proposed reply are marked as refused.

    If the decoder refuses a statement in two reply frames for the same reason, it would refuse it in other
    frames, too. The caller then adds these keys to `Taken`, so that the statement is not tried again.

    Args:
        proposal: A proposal or a plan.

    Returns:
        A key (a pair of texts) for each repeated statement; empty if the reply repeats no statement.
    """
    return {
        (edit.transform, f"refused {edit.from_amr}.{edit.from_position}")
        for edit in proposal.edits
        if edit.op == "say"
    }


def _statements(proposal: Proposal) -> set[tuple[str, str]]:
    """Return the keys by which later negatives recognise the statements that a reply repeats."""
    return {
        (proposal.transform, f"says {edit.from_amr}.{edit.from_position}")
        for edit in proposal.edits
        if edit.op == "say"
    }


def _edits(
    settings: EditSettings, slot: _Slot, proposal: Proposal, ranked: Sequence[Proposal]
) -> tuple[Edit, ...]:
    """Return the edits of a proposal; an empty tuple if the negative cannot contain these edits.

    For example, the proposal may edit a turn that must not be edited.
    """
    # Some edits are meant only for responses, others only for whole dialogues. For example, "You can go"
    # instead of "I can go" may still be a correct response, so skip this edit if the target is
    # the response.
    if settings.recipe.skips(proposal.for_target, settings.target):
        return ()
    if proposal.swap_pool is None:
        # Skip sites in turns that must not be edited, such as the context if the target is the response.
        if not proposal.graphs <= slot.editable:
            return ()
        # A negative ends with its response, so nothing is copied from the turns after the response.
        unsaid = {turn.graph_id for turn in slot.dialogue.turns if turn.turn > slot.turn}
        copied = {edit.from_amr for edit in proposal.edits if edit.from_amr is not None}
        return proposal.edits if not copied & unsaid else ()
    # The transform swaps two sites with the same `swap_pool`, such as two names. Turns after the response are
    # not part of the negative, so the other site must be in the response or in a turn before it.
    said = {turn.graph_id for turn in slot.dialogue.turns if turn.turn <= slot.turn}
    for other in ranked:
        # The two sites exchange their subtrees, for example two names. If one site is in a turn that must not
        # be edited, only the other site changes: it gets a copy of the name.
        fits = other.swap_pool == proposal.swap_pool and not _alike(proposal.content, other.content)
        if fits and other.graphs <= said and not other.graphs & proposal.graphs:
            return tuple(edit for edit in paired(proposal, other) if edit.amr in slot.editable)
    return ()


def _alike(own: str | None, other: str | None) -> bool:
    """Return whether one of two texts has all words of the other, as ``John Brown`` contains ``Brown``."""
    if own == other or own is None or other is None:
        return own == other
    words, others = set(own.split()), set(other.split())
    # "Brown" names the same person as "John Brown", so a swap of the two would not make the text wrong.
    return words <= others or others <= words


def _planned(settings: EditSettings, slot: _Slot) -> EditPlan:
    """Return the planned edits of a negative as an `EditPlan`, with the id of the negative."""
    id = f"{slot.dialogue.id}#{slot.turn}~{settings.recipe.name}.{settings.seed}.{slot.number}"
    id += f".{settings.version}" if settings.version else ""
    return EditPlan(id, slot.dialogue, slot.number, slot.turn, tuple(slot.edits))
