"""Define recipes: which transforms make a negative and how many of them, or which generator makes it.

The recipe ``deam``, for example, draws one to four of DEAM's manipulations for each negative and applies them
to any turn of a dialogue. The recipe ``contradiction`` draws one of three transforms and edits the response:

>>> get_recipe("contradiction").transforms
('negate', 'oppose', 'contradict')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from graphneg.errors import InputError
from graphneg.hashing import number

Target = Literal["dialogue", "response"]
Sites = Literal["clashing", "any"]
CANDIDATES = 4
"""Default number of sites to sample for an edit; the one with the highest score is edited."""
TARGETS: tuple[Target, ...] = ("dialogue", "response")
"""What a negative may edit: any turn of the dialogue, or the response alone."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which transforms make a negative: some groups are drawn, and one transform of each group is applied.

    Attributes:
        name: Name of the recipe.
        summary: What the recipe makes, in one line.
        groups: Transforms by group; a negative uses at most one transform of a group.
        least: Minimum number of groups to draw for a negative.
        most: Maximum number of groups to draw for a negative.
        target: What is edited by default: any turn, or the response alone.
        every: Number of editable turns for each application of a transform, by transform. A transform that is
            not listed is applied once.
        weights: How many times as often as others a transform is drawn first, by transform; 1 if not listed.
        sites: ``clashing`` skips sites that are marked for another target, because they contradict nothing in
            this one; ``any`` uses all sites.
    """

    name: str
    summary: str
    groups: tuple[tuple[str, ...], ...]
    least: int
    most: int
    target: Target
    every: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    weights: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    sites: Sites = "clashing"

    @property
    def transforms(self) -> tuple[str, ...]:
        """The names of all transforms that may be drawn."""
        return tuple(name for group in self.groups for name in group)

    def group_order(self, seed: int, *names: str) -> list[tuple[str, ...]]:
        """Return the groups in a random order, in which a group of higher weight more often comes first.

        Each group has as many lots as the highest weight of its transforms, and takes the place of the first
        of its lots. So the probability to come first is the weight's share of the sum of all weights.

        Args:
            seed: The seed.
            *names: Strings that the order depends on, together with the seed.

        Returns:
            Each group once.

        Example:
            >>> orders = [ALL.group_order(0, str(dialogue)) for dialogue in range(2000)]
            >>> first = [order[0] for order in orders]
            >>> first.count(("corefer",)) > 4 * first.count(("negate",))
            True
        """
        lots = [
            (number(seed, "group", *names, f"{group} {lot}" if lot else str(group)), group)
            for group in self.groups
            for lot in range(max(map(self.weight, group)))
        ]
        return list(dict.fromkeys(group for _, group in sorted(lots)))

    def weight(self, transform: str) -> int:
        """Return how many times as often as others a transform is drawn first.

        Args:
            transform: Name of a transform.

        Returns:
            The weight, 1 by default.
        """
        return self.weights.get(transform, 1)

    def times(self, transform: str, turns: int) -> int:
        """Return how often a drawn transform is applied to one dialogue.

        Args:
            transform: Name of the transform.
            turns: Number of turns that may be edited.

        Returns:
            The number of applications, at least 1.

        Example:
            >>> DEAM.times("disengage", 20), DEAM.times("disengage", 8), CONTRADICTION.times("negate", 20)
            (4, 1, 1)
        """
        return max(1, turns // self.every[transform]) if transform in self.every else 1

    def passes_over(self, site_target: Target | None, target: Target) -> bool:
        """Return whether the recipe skips sites of a given target.

        Args:
            site_target: Target that the sites are for, or None if they are for any.
            target: Target of the negatives to make.

        Returns:
            True if the sites are for the other target and the recipe wants ``clashing`` sites.
        """
        return self.sites == "clashing" and site_target not in (None, target)


DEAM = Recipe(
    name="deam",
    summary="one to four manipulations of a dialogue: contradiction, coreference, irrelevancy, engagement",
    groups=(("negate", "oppose", "contradict"), ("corefer",), ("irrelevant",), ("disengage",)),
    least=1,
    most=4,
    target="dialogue",
    every={"negate": 10, "oppose": 10, "contradict": 10, "corefer": 7, "irrelevant": 10, "disengage": 5},
)
"""The manipulations of DEAM (Ghazarian et al. 2022, "DEAM: Dialogue Coherence Evaluation using AMR-based
Semantic Manipulations", ACL, section 3). A manipulation is applied to as many turns as in the authors'
program: a tenth of them, and a fifth for engagement. For coreference the authors take half of the kinds of
pronouns and one turn for each kind, which is about a seventh.

Departures from the paper: an edit never leaves a graph malformed; no turn is edited twice in one negative; a
manipulation without a site in a dialogue is replaced by the next one.
"""

CONTRADICTION = Recipe(
    name="contradiction",
    summary="one contradiction: of what the speaker said before, or, in whole dialogues, of what follows",
    groups=(("negate",), ("oppose",), ("contradict",)),
    least=1,
    most=1,
    target="response",
)
"""Contradictory responses as in Sato et al. 2024, made by the contradiction edits of DEAM."""

PERSPECTIVE = Recipe(
    name="perspective",
    summary="a reply moves to where another keyword of the post would lead",
    groups=(("perspective",),),
    least=1,
    most=1,
    target="dialogue",
)
"""The perspective shift of CAPT (Ou et al. 2022, "Counterfactual Data Augmentation via Perspective Transition
for Open-Domain Dialogues", EMNLP) and the keyword substitution of Key-sem (Gupta et al. 2021), applied to the
graph of a reply.

Departures from the papers: a decoder realises the edited graph, while the papers generate the response with a
language model. The substitute comes from a keyword of the post other than the response's focus, because CAPT
makes positives and this recipe makes negatives.
"""

ALL = Recipe(
    name="all",
    summary="one edit of the response, of any kind",
    groups=tuple(
        (name,)
        for name in (
            "negate", "oppose", "contradict", "corefer", "irrelevant", "disengage",
            "retime", "respeak", "restrat", "rename", "perspective", "graft",
        )
    ),
    least=1,
    most=1,
    target="response",
    weights={"contradict": 4, "respeak": 3, "graft": 2, "corefer": 6},
)  # fmt: skip
"""One edit by any transform. Transforms whose negatives are more often fluent and wrong have higher weights.
The categories are those of Gupta et al. 2021 ("Synthesizing Adversarial Negative Responses for Robust
Response Ranking and Evaluation", Findings of ACL).
"""


@dataclass(frozen=True, slots=True)
class GeneratedRecipe:
    """A recipe that calls a generator, which writes new responses instead of editing graphs.

    Attributes:
        name: Name of the recipe.
        summary: What the recipe makes, in one line.
        generator: Name of the generator.
        target: What the negatives change: always the response.
    """

    name: str
    summary: str
    generator: str
    target: Target = "response"


HARD = GeneratedRecipe(
    name="hard",
    summary="responses that share words with the context and are set in another scene: the best for rankers",
    generator="hard",
)
"""The mix of generators that came closest to human adversarial responses on DailyDialog++ (Sai et al. 2020,
"Improving Dialog Evaluation with a Multi-reference Adversarial Dataset and Large Scale Pretraining", TACL).
"""

GENERATED: Mapping[str, GeneratedRecipe] = {recipe.name: recipe for recipe in (HARD,)}
RECIPES: Mapping[str, Recipe] = {recipe.name: recipe for recipe in (DEAM, CONTRADICTION, PERSPECTIVE, ALL)}

RECIPE_NAMES = (*RECIPES, *GENERATED)


def get_recipe(name: str) -> Recipe:
    """Return the recipe of a name.

    Args:
        name: Name of a recipe that edits graphs.

    Returns:
        The recipe.

    Raises:
        InputError: There is no such recipe.
    """
    if name not in RECIPES:
        raise InputError(f"no recipe named {name!r}; there are: {', '.join(RECIPE_NAMES)}")
    return RECIPES[name]


def chosen_recipe(recipe: str | Recipe, transforms: Sequence[str], target: Target | None) -> Recipe:
    """Return the recipe that a caller asks for by recipe or by transforms.

    Args:
        recipe: Recipe or its name; ignored if ``transforms`` are given.
        transforms: Names of transforms that form a recipe of their own.
        target: Target of the negatives, or None for that of the recipe. A target that is given together with
            transforms opens all their sites, also those marked for the other target.

    Returns:
        The recipe.

    Raises:
        InputError: ``target`` is unknown.
    """
    if target is not None and target not in TARGETS:
        raise InputError(f"target {target!r}: choose one of {', '.join(TARGETS)}")
    # A user who names transforms and a target wants their edits, also those at sites for the other target.
    if transforms:
        return recipe_of(transforms, "clashing" if target is None else "any")
    return recipe if isinstance(recipe, Recipe) else get_recipe(recipe)


def check_target(recipe: GeneratedRecipe, target: Target | None) -> None:
    """Check that a target is the one of a recipe that calls a generator.

    Args:
        recipe: Recipe that calls a generator.
        target: Target of the negatives, or None for that of the recipe.

    Raises:
        InputError: The recipe makes negatives of another target.
    """
    if target not in (None, recipe.target):
        raise InputError(f"recipe {recipe.name!r} makes wrong responses; its target can't be {target!r}")


def recipe_of(transforms: Sequence[str], sites: Sites = "clashing") -> Recipe:
    """Return a recipe that draws one of some transforms for each response.

    Args:
        transforms: Names of the transforms; repeated names count once.
        sites: ``clashing`` to skip sites that are marked for whole dialogues, ``any`` to use them.

    Returns:
        A recipe whose name joins the names of the transforms with ``+``.

    Raises:
        InputError: ``transforms`` is empty.

    Example:
        >>> recipe_of(["negate", "respeak"]).name
        'negate+respeak'
    """
    if not transforms:
        raise InputError("name at least one transform")
    names = tuple(dict.fromkeys(transforms))
    groups = tuple((name,) for name in names)
    return Recipe("+".join(names), "one edit of the response", groups, 1, 1, "response", sites=sites)
