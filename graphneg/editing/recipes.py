"""Define recipes. A recipe says which transforms are combined in a negative, or which generator makes it.

The recipe ``deam``, for example, draws one to four of DEAM's manipulations for each negative and applies them
to any turns of a dialogue. The recipe ``contradiction`` draws one of nine transforms and edits the response:

>>> len(get_recipe("contradiction").transforms), get_recipe("contradiction").target
(9, 'response')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import log
from typing import Literal

from graphneg.errors import InputError
from graphneg.hashing import number

Target = Literal["dialogue", "response"]
Sites = Literal["clashing", "any"]
CANDIDATES = 4
"""Default number of sites to sample for each edit. Of these, the site with the highest score is edited."""
_NUMBERS = 1 << 64
"""Number of values that `graphneg.hashing.number` can return."""
TARGETS: tuple[Target, ...] = ("dialogue", "response")
"""The possible targets. With ``dialogue``, any turn of the dialogue may be edited; with ``response``, only
the response."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe that edits graphs.

    For each negative, some groups of transforms are drawn, and one transform of each group is applied.

    Attributes:
        name: Name of the recipe.
        summary: One-line description of the negatives that the recipe makes.
        groups: The groups of transforms, each a tuple of transform names. A negative uses at most one
            transform of a group.
        min_groups: Minimum number of groups to draw for a negative.
        max_groups: Maximum number of groups to draw for a negative.
        target: Turns that are edited by default: any turn (``dialogue``), or the response alone
            (``response``).
        turns_per_edit: The number of editable turns for one application of a transform, keyed by the name of
            the transform. For example, a transform with the value 10 is applied twice in a dialogue of 20
            turns. A transform that is not listed is applied once.
        weights: The weights of transforms, keyed by the name of the transform. A transform with the weight 3
            is drawn first three times as often as a transform with the weight 1. The weight of a transform
            that is not listed is 1.
        sites: ``clashing`` skips sites (places to edit) that a transform marks for the other target, because
            an edit of such a site would often not contradict anything. ``any`` uses all sites.
    """

    name: str
    summary: str
    groups: tuple[tuple[str, ...], ...]
    min_groups: int
    max_groups: int
    target: Target
    turns_per_edit: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    weights: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    sites: Sites = "clashing"

    @property
    def transforms(self) -> tuple[str, ...]:
        """The names of all transforms of the recipe."""
        return tuple(name for group in self.groups for name in group)

    def group_order(self, seed: int, *names: str) -> list[tuple[str, ...]]:
        """Return the groups of transforms in a random order that favours groups with a higher weight.

        The weight of a group is the highest weight of its transforms. The probability that a group comes
        first is its weight divided by the sum of all weights. Each further group is drawn in the same way
        from the groups that are left. To achieve this, each group gets an exponentially distributed time
        with its weight as the rate, and the groups are sorted by these times (Efraimidis and Spirakis 2006,
        "Weighted random sampling with a reservoir").

        Args:
            seed: Seed for the random order.
            *names: Names, such as the id of a dialogue, that determine the order together with the seed.

        Returns:
            All groups of the recipe, each once.

        Example:
            >>> orders = [ALL.group_order(0, str(dialogue)) for dialogue in range(2000)]
            >>> first = [order[0] for order in orders]
            >>> first.count(("coreference_swap",)) > 4 * first.count(("negated_claim",))
            True
        """
        numbers = {group: number(seed, "group", *names, str(group)) for group in self.groups}

        def time(group: tuple[str, ...]) -> tuple[float, int]:
            # Draw from an exponential distribution: -log(1 - u) for a uniformly distributed u in [0, 1).
            exponential = -log((_NUMBERS - numbers[group]) / _NUMBERS)
            return exponential / max(map(self.weight, group)), numbers[group]

        return sorted(self.groups, key=time)

    def weight(self, transform: str) -> int:
        """Return the weight of a transform, which determines how often the transform is tried first.

        Args:
            transform: Name of a transform.

        Returns:
            The weight; 1 if the recipe states none.
        """
        return self.weights.get(transform, 1)

    def times(self, transform: str, turns: int) -> int:
        """Return how many times a drawn transform is applied to one dialogue.

        Args:
            transform: Name of the transform.
            turns: Number of turns that may be edited.

        Returns:
            The number of applications, at least 1.

        Example:
            >>> DEAM.times("subtree_deletion", 20), DEAM.times("subtree_deletion", 8)
            (4, 1)
            >>> CONTRADICTION.times("polarity_flip", 20)
            1
        """
        return max(1, turns // self.turns_per_edit[transform]) if transform in self.turns_per_edit else 1

    def skips(self, site_target: Target | None, target: Target) -> bool:
        """Return whether to skip a site (place to edit) that is meant for negatives of the other type.

        In negatives of the type ``response``, only the response is edited. In those of the type ``dialogue``,
        any turn may be edited.

        Args:
            site_target: The type of negatives for which the transform proposes the site; None for both types.
            target: The type of negatives to make.

        Returns:
            True if the types differ and the ``sites`` of the recipe are ``clashing``, not ``any``.
        """
        return self.sites == "clashing" and site_target not in (None, target)


DEAM = Recipe(
    name="deam",
    summary="one to four manipulations of a dialogue: contradiction, coreference, irrelevancy and engagement",
    groups=(
        ("polarity_flip", "antonym_substitution", "self_contradiction"),
        ("coreference_swap",),
        ("argument_swap",),
        ("subtree_deletion",),
    ),
    min_groups=1,
    max_groups=4,
    target="dialogue",
    turns_per_edit={
        "polarity_flip": 10,
        "antonym_substitution": 10,
        "self_contradiction": 10,
        "coreference_swap": 7,
        "argument_swap": 10,
        "subtree_deletion": 5,
    },
)
"""The manipulations of DEAM (Ghazarian et al. 2022, "DEAM: Dialogue Coherence Evaluation using AMR-based
Semantic Manipulations", ACL, section 3). A manipulation is applied to as many turns as in the authors'
program. Most manipulations are applied to a tenth of the turns, and the manipulation of engagement to a
fifth. For coreference, the authors choose half of the distinct pronouns and edit one turn for each of them,
which is about a seventh of the turns.

Departures from the paper:

- An edit never makes a graph ill-formed.
- No turn is edited twice in one negative.
- If a manipulation has no site in a dialogue, the next one replaces it.
"""

CONTRADICTION = Recipe(
    name="contradiction",
    summary="one contradiction of an earlier statement or, in whole dialogues, of a later one",
    groups=(
        ("polarity_flip",),
        ("antonym_substitution",),
        ("self_contradiction",),
        ("negated_claim",),
        ("antonym_claim",),
        ("quantifier_claim",),
        ("modality_claim",),
        ("request_claim",),
        ("question_claim",),
    ),
    min_groups=1,
    max_groups=1,
    target="response",
    weights={
        "negated_claim": 4,
        "antonym_claim": 2,
        "quantifier_claim": 2,
        "modality_claim": 2,
        "request_claim": 2,
        "question_claim": 2,
    },
)
"""Contradictory responses as in Sato et al. 2024. They are made by the contradiction edits of DEAM, and by
replies that repeat the opposite of an earlier statement or request. Such replies contradict both speakers and
can be made in more contexts, so their transforms have a higher weight.
"""

PERSPECTIVE = Recipe(
    name="perspective",
    summary="the reply moves to a topic that follows from another keyword of the post",
    groups=(("perspective_substitution",),),
    min_groups=1,
    max_groups=1,
    target="dialogue",
)
"""The perspective shift of CAPT (Ou et al. 2022, "Counterfactual Data Augmentation via Perspective Transition
for Open-Domain Dialogues", EMNLP) and the keyword substitution of Key-sem (Gupta et al. 2021), applied to the
graph of a reply.

Departures from the papers: the papers generate the response with a language model, but here a decoder
realises the edited graph. CAPT makes correct responses, so it chooses a substitute that follows from the
reply's focus, that is, the keyword of the post that the reply is about. This recipe makes negatives, so it
chooses a substitute that follows from another keyword of the post.
"""

ALL = Recipe(
    name="all",
    summary="one edit of the response, of any kind",
    groups=tuple(
        (name,)
        for name in (
            "polarity_flip", "antonym_substitution", "self_contradiction", "coreference_swap",
            "argument_swap", "subtree_deletion", "time_shift", "person_swap",
            "dialogue_act_change", "entity_swap", "perspective_substitution", "topical_statement",
            "negated_claim", "antonym_claim", "thing_claim", "time_claim", "quantity_claim", "asked_claim",
            "modality_claim", "tense_claim", "person_claim", "quantifier_claim",
            "request_claim", "question_claim",
        )
    ),
    min_groups=1,
    max_groups=1,
    target="response",
    weights={
        **dict.fromkeys(
            (
                "coreference_swap", "antonym_claim", "thing_claim", "time_claim", "quantity_claim",
                "asked_claim", "modality_claim", "tense_claim", "person_claim", "quantifier_claim",
            ),
            120,
        ),
        "request_claim": 48, "self_contradiction": 8, "negated_claim": 10, "question_claim": 24,
        "person_swap": 8,
        **dict.fromkeys(
            (
                "polarity_flip", "antonym_substitution", "argument_swap", "subtree_deletion", "time_shift",
                "dialogue_act_change", "entity_swap", "perspective_substitution",
            ),
            4,
        ),
        # `topical_statement` has the lowest weight, because only a quarter of its replies are about the
        # people and things of the conversation.
        "topical_statement": 2,
    },
)  # fmt: skip
"""One edit by any transform except ``role_claim``. The transforms cover the error categories of Gupta et al.
2021 ("Synthesizing Adversarial Negative Responses for Robust Response Ranking and Evaluation", Findings of
ACL). The recipe leaves out ``role_claim``, because readers found half of its replies silly, such as "So I'm
losing you?".

With the target ``response``, no transform should make more than a quarter of the negatives of a corpus.
Therefore, transforms that find a site in few dialogues have a high weight, so that they are tried first.
Transforms that find a site in most dialogues have a low weight, so that they are used mainly in dialogues
where the others find no site. The limit could be kept exactly by counting the negatives made so far, but a
negative would then depend on the dialogues before it, on batches and on shards.
"""


@dataclass(frozen=True, slots=True)
class GeneratedRecipe:
    """A recipe that calls a generator, which writes new responses instead of editing graphs.

    Attributes:
        name: Name of the recipe.
        summary: One-line description of the negatives that the recipe makes.
        generator: Name of the generator.
        target: Part of the dialogue that the negatives change, which is always the response.
    """

    name: str
    summary: str
    generator: str
    target: Target = "response"


HARD = GeneratedRecipe(
    name="hard",
    summary="responses that share words with the context but are about another situation: best for rankers",
    generator="hard",
)
"""Negatives by the generator ``hard``, a mix of other generators. Among the mixes that were tried, it makes
the negatives that are most similar to the human-written adversarial responses of DailyDialog++ (Sai et al.
2020, "Improving Dialog Evaluation with a Multi-reference Adversarial Dataset and Large Scale Pretraining",
TACL).
"""

GENERATED: Mapping[str, GeneratedRecipe] = {recipe.name: recipe for recipe in (HARD,)}
RECIPES: Mapping[str, Recipe] = {recipe.name: recipe for recipe in (DEAM, CONTRADICTION, PERSPECTIVE, ALL)}

RECIPE_NAMES = (*RECIPES, *GENERATED)


def get_recipe(name: str) -> Recipe:
    """Return the recipe with a given name.

    Args:
        name: Name of a recipe that edits graphs.

    Returns:
        The recipe.

    Raises:
        InputError: No recipe that edits graphs has this name.
    """
    if name not in RECIPES:
        require_recipe(name)
        raise InputError(f"the recipe {name!r} edits no graphs; those that do: {', '.join(RECIPES)}")
    return RECIPES[name]


def require_recipe(name: str) -> None:
    """Check that a recipe has a given name, whether it edits graphs or calls a generator.

    Args:
        name: The name to check.

    Raises:
        InputError: No recipe has this name. The message names the recipe with the most similar name.
    """
    if name not in RECIPE_NAMES:
        similar = get_close_matches(name, RECIPE_NAMES, n=1)
        meant = f"did you mean {similar[0]!r}? " if similar else ""
        raise InputError(f"no recipe named {name!r}; {meant}available: {', '.join(RECIPE_NAMES)}")


def chosen_recipe(recipe: str | Recipe, transforms: Sequence[str], target: Target | None) -> Recipe:
    """Return the recipe for a request that names either a recipe or transforms.

    Args:
        recipe: The recipe or its name; ignored if ``transforms`` are given.
        transforms: Names of the transforms from which a new recipe is formed; empty to use ``recipe``.
        target: Target of the negatives; None uses the target of the recipe. If a target is given together
            with transforms, all sites of these transforms are used, even sites marked for the other target.

    Returns:
        The recipe named by ``recipe``, or a new recipe that applies one of ``transforms``.

    Raises:
        InputError: ``target`` is neither ``dialogue`` nor ``response``, or no recipe has the given name.
    """
    if target is not None and target not in TARGETS:
        raise InputError(f"unknown target {target!r}; choose one of {', '.join(TARGETS)}")
    # A transform may mark a site (place to edit) as useful only in the response, or only in whole dialogues.
    # A recipe usually skips the sites that are marked for the other target. If the user names both transforms
    # and a target, use all sites.
    if transforms:
        return recipe_of(transforms, "clashing" if target is None else "any")
    return recipe if isinstance(recipe, Recipe) else get_recipe(recipe)


def check_target(recipe: GeneratedRecipe, target: Target | None) -> None:
    """Check that a recipe that calls a generator can make negatives with the requested target.

    Args:
        recipe: Recipe that calls a generator.
        target: Requested target; None accepts the target of the recipe.

    Raises:
        InputError: The requested target is not the target of the recipe.
    """
    if target not in (None, recipe.target):
        raise InputError(f"recipe {recipe.name!r} makes wrong responses, so its target can't be {target!r}")


def recipe_of(transforms: Sequence[str], sites: Sites = "clashing") -> Recipe:
    """Return a recipe that applies one of the given transforms to each response.

    Args:
        transforms: Names of the transforms; repeated names count once.
        sites: ``clashing`` to skip sites that are marked for whole dialogues; ``any`` to use these, too.

    Returns:
        A recipe whose name joins the names of the transforms with ``+``.

    Raises:
        InputError: ``transforms`` is empty.

    Example:
        >>> recipe_of(["polarity_flip", "person_swap"]).name
        'polarity_flip+person_swap'
    """
    if not transforms:
        raise InputError("give at least one transform")
    names = tuple(dict.fromkeys(transforms))
    groups = tuple((name,) for name in names)
    return Recipe("+".join(names), "one edit of the response", groups, 1, 1, "response", sites=sites)
