"""Run the trained models on a draft, and restore the parts of the draft that the models cannot handle.

`LearnedReviser` runs the models in three steps. It chooses the concepts of each word, then the arcs and the
top of each sentence, and then the node that each *no* negates. The models were trained on the graphs of a
novel and of image captions. Vocatives, *please*, one-word sentences and texts of several sentences are rare
or missing in this training data, but frequent in dialogues. Therefore the reviser first copies the arcs that
the rules wrote for such phenomena, and restores these arcs afterwards. Finally all mentions of a personal
pronoun in a text are merged into one node.

If the package has no model files in ``data/learned``, there are no revisers, and the drafts of the rules are
used unchanged. :mod:`tools.parser_training` creates the model files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple, Protocol

from graphneg.parsers.dependency.draft import DraftArc, DraftNode, GraphDraft
from graphneg.parsers.dependency.learned.arcs import link_nodes, move_negation
from graphneg.parsers.dependency.learned.concepts import choose_concepts
from graphneg.parsers.dependency.learned.features import expand
from graphneg.parsers.dependency.learned.tables import GroupSums, Meanings, Model, read_meanings, read_model
from graphneg.parsers.dependency.lexicon import word_class
from graphneg.parsers.dependency.rules.linking import PERSONAL
from graphneg.parsers.dependency.rules.state import quoted_words

_KEPT_ROLES = frozenset({"vocative", "polite"})
_UNKNOWN = "amr-unknown"
CODE = "5"
"""Version of the code in ``learned/``. Increase it with every change that could change the graph of any
text. The model files have a separate version, which is a digest of the files.
"""
MOST_WORDS = 400
"""Maximum number of words of a draft that is revised. Longer drafts are used as the rules wrote them."""


class Reviser(Protocol):
    """The interface of a trained model that corrects the graph that the rules of the parser have built.

    Attributes:
        version: Version of the model. It becomes part of the parser's version, so it must change whenever
            graphs can change.
    """

    version: str

    def revise(self, draft: GraphDraft) -> None:
        """Revise an unfinished graph in place, for example by choosing other concepts or arcs.

        Args:
            draft: The graph under construction.
        """
        ...


def revise(draft: GraphDraft, revisers: Sequence[Reviser]) -> GraphDraft:
    """Run the revising models on a draft. Then restore the arcs and nodes that the models must not remove.

    Args:
        draft: The graph that the rules have written; it is changed in place.
        revisers: The revisers, in the order in which they run.

    Returns:
        The same draft, revised.
    """
    kept, tops = _kept_arcs(draft), dict(draft.tops)
    for reviser in revisers:
        reviser.revise(draft)
    if revisers:
        _restore(draft, kept, tops)
    draft.merge(lambda node: node.concept if node.concept in PERSONAL else None)
    return draft


def _kept_arcs(draft: GraphDraft) -> dict[str, list[DraftArc]]:
    """Return copies of the arcs that the models must not remove, keyed by a reason such as ``modals``."""
    nodes, spoken = draft.nodes, quoted_words(draft.words)
    times = Counter((arc.head, arc.dep) for arc in draft.arcs if arc.role.startswith("ARG"))
    # In "let's go", the node of "us" (concept "we") is the subject of "go".
    us = {
        k
        for k, node in enumerate(nodes)
        if node.concept == "we" and node.token and draft.words[node.token - 1].lower in {"let", "lets"}
    }
    # Inside a quotation, "I" may refer to the quoted speaker. The arcs that the rules write for such pronouns
    # are unreliable, so the models may remove them.
    persons = {k for k in range(len(nodes)) if _is_person(nodes[k]) and nodes[k].token not in spoken}
    kept: dict[str, list[DraftArc]] = {}
    for arc in draft.arcs:
        is_argument = arc.role.startswith("ARG")
        # Keep the arc if one of these conditions is true:
        # marks: the argument is a polarity, a politeness mark, a vocative, the node that a question asks for,
        # or an example ("dogs" in "animals such as dogs").
        # hortative: the argument is the agent "us" of "let's go".
        # doubled: the argument has two roles of the same frame, as "he" in "he hurt himself".
        # modals: the head is a modal and the argument a conjunction, as in "you can't eat or drink".
        # persons: the head or the argument is a personal pronoun.
        reasons = {
            "marks": arc.role == "polarity" or _is_always_restored(arc) or nodes[arc.dep].concept == _UNKNOWN,
            "hortative": is_argument and arc.dep in us,
            "doubled": is_argument and times[arc.head, arc.dep] > 1,
            "modals": nodes[arc.head].rule == "modal" and nodes[arc.dep].rule == "coordination",
            "persons": (is_argument or arc.role in {"mod", "poss"}) and {arc.head, arc.dep} & persons,
        }
        for reason, holds in reasons.items():
            if holds:
                kept.setdefault(reason, []).append(replace(arc))
    return kept


def _is_always_restored(arc: DraftArc) -> bool:
    """Return whether an arc that the rules wrote is restored in any case.

    These are the arcs to vocatives, to politeness marks and to examples (*dogs* in *animals such as dogs*).
    Other arcs, such as those to a negation, are restored only if the trained models have deleted their
    argument.
    """
    return arc.role in _KEPT_ROLES or arc.rule == "example"


def _is_person(node: DraftNode) -> bool:
    """Return whether a node is a personal pronoun other than *it*."""
    return node.concept in PERSONAL - {"it"} and node.rule == "pronoun"


def _restore(draft: GraphDraft, kept: Mapping[str, Sequence[DraftArc]], tops: Mapping[int, int]) -> None:
    """Restore arcs of the rules that the trained models have removed.

    If the models have removed all nodes of a sentence, its top node is restored, too.

    Args:
        draft: The graph after the models have revised it; it is changed in place.
        kept: Copies of the arcs to restore, as `_kept_arcs` returned them.
        tops: The top node of each sentence before the revision.
    """
    nodes = draft.nodes
    alive = {node.sentence for node in nodes if not node.deleted and node.concept is not None}
    for sentence, top in tops.items():
        if sentence not in alive:
            nodes[top].deleted = False
            draft.tops[sentence] = top
    asked = {node.sentence for node in nodes if node.concept == _UNKNOWN and not node.deleted}
    for arc in kept.get("marks", ()):
        node, head = nodes[arc.dep], _node_or_substitute(draft, arc.head)
        # "Who came?" asks for one thing, so its graph has one amr-unknown. If a model has moved it to another
        # node, do not add it a second time.
        lost = node.deleted and (node.concept != _UNKNOWN or node.sentence not in asked)
        if (lost or _is_always_restored(arc)) and head is not None:
            _restore_arc(draft, arc, head)
    for arc in kept.get("hortative", ()):
        _restore_us(draft, arc)
    for arc in kept.get("doubled", ()):
        if (
            arc.role not in draft.roles(arc.head)
            and not nodes[arc.head].deleted
            and not nodes[arc.dep].deleted
        ):
            draft.link(arc.head, arc.role, arc.dep, arc.rule)
    # In "We ate three pounds of rice", what is eaten is the rice, not the unit "pound". Move an argument arc
    # from the unit of a quantity to the measured noun or, if there is none, to the quantity.
    kinds = {arc.dep: arc.head for arc in draft.arcs if arc.role == "unit"}
    measured = {arc.dep: arc.head for arc in draft.arcs if arc.role == "quant"}
    for arc in draft.arcs:
        if arc.dep in kinds and arc.role.startswith("ARG"):
            arc.dep = measured.get(kinds[arc.dep], kinds[arc.dep])
    _drop_particles(draft)
    for arc in kept.get("modals", ()):
        _restore_modal(draft, arc)
    for arc in kept.get("persons", ()):
        _restore_person(draft, arc)
    for k, node in enumerate(nodes):
        # The models delete "yes" in "Yes, I do", because many of their training sentences are image captions,
        # which never contain "yes". Attach "yes" to the top node again.
        answers = node.rule in {"interjection", "no"} and node.concept in word_class("answer")
        if node.deleted and answers and draft.tops.get(node.sentence, k) != k:
            node.deleted = False
            draft.link(draft.tops[node.sentence], "mod", k, node.rule)


def _restore_arc(draft: GraphDraft, arc: DraftArc, head: int) -> None:
    """Restore an arc that the rules wrote. The argument of the arc loses all its other heads.

    Args:
        draft: The graph under construction; it is changed in place.
        arc: The arc of the rules.
        head: Index of the head, or of the node that has replaced the deleted head.
    """
    node = draft.nodes[arc.dep]
    # Trust the models if they have made the argument the top of the sentence, or if they have deleted a
    # vocative. In these two cases, do not restore the arc.
    is_decided = head == arc.dep or draft.tops.get(node.sentence) == arc.dep
    if not is_decided and not (node.deleted and arc.role == "vocative"):
        node.deleted, back = False, (arc.dep, head)
        draft.arcs = [old for old in draft.arcs if old.dep != arc.dep and (old.head, old.dep) != back]
        draft.link(head, arc.role, arc.dep, arc.rule)


def _restore_us(draft: GraphDraft, arc: DraftArc) -> None:
    """Replace *you*, the agent of an ordinary imperative, by *we* in *let's go*."""
    head = _node_or_substitute(draft, arc.head)
    if head is None or any(old.head == head and old.dep == arc.dep for old in draft.arcs):
        return
    for old in list(draft.arcs):
        if old.head == head and draft.nodes[old.dep].concept == "you" and old.role.startswith("ARG"):
            draft.arcs.remove(old)
            if not any(old.dep in {other.dep, other.head} for other in draft.arcs):
                draft.drop(old.dep)
    draft.nodes[arc.dep].deleted = False
    draft.link(head, arc.role, arc.dep, arc.rule)


def _drop_particles(draft: GraphDraft) -> None:
    """Delete the node of a particle that is part of its frame: *sat down* is only ``sit-down-02``."""
    heads = {arc.head for arc in draft.arcs}
    for arc in list(draft.arcs):
        node, head = draft.nodes[arc.dep], draft.nodes[arc.head]
        if node.token is None or node.concept is None or arc.dep in heads or node.deleted:
            continue
        stem, _, sense = (head.concept or "").rpartition("-")
        if sense.isdigit() and f"-{draft.words[node.token].lower}" in stem and head.token is not None:
            near = 0 < node.token - head.token < 6 and stem.endswith(f"-{node.concept}")
            if near and sum(other.dep == arc.dep for other in draft.arcs) == 1:
                draft.drop(arc.dep)


def _restore_modal(draft: GraphDraft, arc: DraftArc) -> None:
    """Put a modal above a whole conjunction again, as the rules did.

    For example, in *can't eat or drink*, *can't* concerns both verbs.
    """
    modal, joint = arc.head, arc.dep
    joined = {old.dep for old in draft.arcs if old.head == joint and old.role.startswith("op")} - {modal}
    if len(joined) < 2 or draft.nodes[modal].deleted or draft.nodes[joint].deleted:
        return
    draft.arcs = [
        old
        for old in draft.arcs
        if (old.head, old.dep) != (joint, modal) and (old.head != modal or old.dep not in {*joined, joint})
    ]
    draft.link(modal, arc.role, joint, arc.rule)
    draft.tops = {sentence: modal if top == joint else top for sentence, top in draft.tops.items()}


def _restore_person(draft: GraphDraft, arc: DraftArc) -> None:
    """Restore a personal pronoun that the trained models have deleted, with its role in the rules' graph."""
    lost = [k for k in (arc.head, arc.dep) if draft.nodes[k].deleted and _is_person(draft.nodes[k])]
    other = _node_or_substitute(draft, arc.dep if lost == [arc.head] else arc.head)
    if len(lost) != 1 or other is None or draft.nodes[other].concept is None:
        return
    head, dep = (arc.head, other) if lost == [arc.head] else (other, arc.dep)
    if lost == [arc.head] or arc.role not in draft.roles(other):
        draft.nodes[lost[0]].deleted = False
        draft.link(head, arc.role, dep, arc.rule)


def _node_or_substitute(draft: GraphDraft, node: int) -> int | None:
    """Return a node or, if it is deleted, its substitute; ``None`` if it has no substitute.

    The substitute is another concept of the same word. For a node that is not aligned with a word, it is the
    top of the sentence.
    """
    old = draft.nodes[node]
    if not old.deleted:
        return node
    if old.token is None:
        return draft.tops.get(old.sentence)
    alive = (k for k, other in enumerate(draft.nodes) if other.token == old.token and not other.deleted)
    return next((k for k in alive if draft.nodes[k].concept is not None), None)


class LearnedReviser:
    """Revises the unfinished graphs of the rules (drafts) with the trained models of the package.

    Attributes:
        version: Digest of the model files, followed by the version `CODE` of the program code.
    """

    def __init__(self, folder: Traversable) -> None:
        """Initialize the reviser. The models are loaded when `revise` is called for the first time.

        Args:
            folder: Folder that contains the model files.
        """
        self._folder = folder
        self.version = f"{folder.joinpath('VERSION').read_text('utf-8').strip()}.{CODE}"

    def revise(self, draft: GraphDraft) -> None:
        """Let the models choose the concepts, arcs, tops and negations of an unfinished graph.

        Args:
            draft: The unfinished graph, changed in place. If its text has more than `MOST_WORDS` words, it is
                left unchanged.
        """
        if len(draft.words) > MOST_WORDS:
            return
        parts, pairs = _load_parts(self._folder)
        choose_concepts(parts.meanings, parts.chooser, draft)
        link_nodes(parts.meanings, parts.arcs, pairs, draft)
        move_negation(parts.denial, draft)


class Parts(NamedTuple):
    """The tables and networks of the trained models.

    Attributes:
        meanings: Counts of the graph fragments that each word had in annotated graphs.
        chooser: Network that scores the possible meanings of a word.
        arcs: Network that scores arcs and tops.
        denial: Network that scores which node a *no* negates.
    """

    meanings: Meanings
    chooser: Model
    arcs: Model
    denial: Model


@lru_cache(maxsize=2)
def _load_parts(folder: Traversable) -> tuple[Parts, GroupSums]:
    """Load the models of a folder. The result is cached, so that later calls in the process are fast."""
    names = ("chooser", "arcs", "denial")
    networks = [read_model(folder.joinpath(f"{name}.npz").read_bytes()) for name in names]
    parts = Parts(read_meanings(folder.joinpath("meanings.json.gz").read_bytes()), *networks)
    return parts, GroupSums(parts.arcs, "pair", expand)


def learned_revisers() -> tuple[LearnedReviser, ...]:
    """Return a tuple of one reviser, which uses the trained models. Without model files, it is empty."""
    folder = files("graphneg.parsers.dependency").joinpath("data", "learned")
    return (LearnedReviser(folder),) if folder.joinpath("VERSION").is_file() else ()
