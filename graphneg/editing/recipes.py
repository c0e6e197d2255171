"""Recipes: which transforms a negative is made with, and how many of them, or which generator makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from graphneg.errors import InputError

Target = Literal["dialogue", "response"]
Sites = Literal["clashing", "any"]
CANDIDATES = 4
"""How many sites are drawn for an edit, of which the one with the highest score is edited."""
TARGETS: tuple[Target, ...] = ("dialogue", "response")
"""What may be edited: any turn, or the response alone."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """``least`` to ``most`` groups are drawn for each negative, and one transform of each group.

    ``target`` is what is edited where the caller does not say: any turn, or the response alone. A drawn
    transform is applied once; one that ``every`` names, to one of every so many turns in long dialogues.
    Transforms that ``weights`` names are drawn first so many times as often as others. ``sites`` that are for
    another target are passed over, since they clash with nothing in this one, or ``any`` will do.
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

    @property
    def draws(self) -> tuple[tuple[str, ...], ...]:
        """The groups to draw from: each as often as its transforms weigh."""
        return tuple(group for group in self.groups for _ in range(max(map(self.weight, group))))

    def weight(self, transform: str) -> int:
        """How many times as often as others the transform is drawn first."""
        return self.weights.get(transform, 1)

    def times(self, transform: str, turns: int) -> int:
        """How often a drawn transform is applied where so many turns may be edited.

        >>> DEAM.times("disengage", 20), DEAM.times("disengage", 8), CONTRADICTION.times("negate", 20)
        (4, 1, 1)
        """
        return max(1, turns // self.every[transform]) if transform in self.every else 1

    def passes_over(self, site_target: Target | None, target: Target) -> bool:
        """Whether sites that are for a target, if for one, are left alone where ``target`` is edited."""
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
"""DEAM (Ghazarian et al. 2022, "DEAM: Dialogue Coherence Evaluation using AMR-based Semantic
Manipulations", ACL, section 3). A manipulation is applied to as many turns as in the authors' program: a
tenth of them, a fifth for engagement; for coreference, where they take half of the kinds of pronouns and a
turn of each, that is about a seventh. Departures: an edit never leaves a graph malformed; no turn is
edited twice in one negative; what has no site in a dialogue gives way to the next manipulation."""

CONTRADICTION = Recipe(
    name="contradiction",
    summary="one contradiction: of what the speaker said before, or, in whole dialogues, of what follows",
    groups=(("negate",), ("oppose",), ("contradict",)),
    least=1,
    most=1,
    target="response",
)
"""Contradictory responses as Sato et al. 2024 study them, made by DEAM's contradiction edits."""

PERSPECTIVE = Recipe(
    name="perspective",
    summary="a reply moves to where another keyword of the post would lead",
    groups=(("perspective",),),
    least=1,
    most=1,
    target="dialogue",
)
"""The perspective of CAPT (Ou et al. 2022, "Counterfactual Data Augmentation via Perspective Transition
for Open-Domain Dialogues", EMNLP) and the keyword substitution of Key-sem (Gupta et al. 2021), made on
a reply's graph. Departures: no language model writes the response, a decoder realises its edited
graph; the substitute comes from another keyword of the post than the response's focus, to make a
negative where CAPT makes a positive."""

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
"""Every transform, the more often the more of its negatives are good sentences and wrong answers. The
categories are those of Gupta et al. 2021 ("Synthesizing Adversarial Negative Responses for Robust Response
Ranking and Evaluation", Findings of ACL)."""


@dataclass(frozen=True, slots=True)
class GeneratedRecipe:
    """A recipe that a generator follows: it makes responses and edits none."""

    name: str
    summary: str
    generator: str
    target: Target = "response"


HARD = GeneratedRecipe(
    name="hard",
    summary="responses that share words with the context and are set in another scene: the best for rankers",
    generator="hard",
)
"""The mix that came closest to negatives that people write, on DailyDialog++ (Sai et al. 2020, "Improving
Dialog Evaluation with a Multi-reference Adversarial Dataset and Large Scale Pretraining", TACL)."""

GENERATED: Mapping[str, GeneratedRecipe] = {recipe.name: recipe for recipe in (HARD,)}
RECIPES: Mapping[str, Recipe] = {recipe.name: recipe for recipe in (DEAM, CONTRADICTION, PERSPECTIVE, ALL)}

RECIPE_NAMES = (*RECIPES, *GENERATED)


def get_recipe(name: str) -> Recipe:
    """The recipe of edits of that name.

    Raises `InputError`: there is none.
    """
    if name not in RECIPES:
        raise InputError(f"no recipe is called {name!r}; there are: {', '.join(RECIPE_NAMES)}")
    return RECIPES[name]


def chosen_recipe(recipe: str | Recipe, transforms: Sequence[str], target: Target | None) -> Recipe:
    """The recipe itself or that of the name; where ``transforms`` are named, theirs.

    Raises `InputError`: there is none of that name, or ``target`` is none.
    """
    if target is not None and target not in TARGETS:
        raise InputError(f"target {target!r}: choose one of {', '.join(TARGETS)}")
    if transforms:
        return recipe_of(transforms, "clashing" if target is None else "any")
    return recipe if isinstance(recipe, Recipe) else get_recipe(recipe)


def check_target(recipe: GeneratedRecipe, target: Target | None) -> None:
    """Refuse a target that is not the recipe's own.

    Raises `InputError`: it is another.
    """
    if target not in (None, recipe.target):
        raise InputError(f"recipe {recipe.name!r} makes wrong responses; target {target!r} is not for it")


def recipe_of(transforms: Sequence[str], sites: Sites = "clashing") -> Recipe:
    """A recipe that draws one of these transforms for each response.

    Raises `InputError`: no transform is named.
    """
    if not transforms:
        raise InputError("name at least one transform")
    names = tuple(dict.fromkeys(transforms))
    groups = tuple((name,) for name in names)
    return Recipe("+".join(names), "one edit of the response", groups, 1, 1, "response", sites=sites)
