"""Recipes: which transforms a negative is made with, and how many of them, or which generator makes it."""

from graphneg.recipes.recipe import (
    GENERATED,
    RECIPE_NAMES,
    RECIPES,
    GeneratedRecipe,
    Recipe,
    check_target,
    chosen_recipe,
    get_recipe,
    recipe_of,
)

__all__ = [
    "GENERATED",
    "RECIPES",
    "RECIPE_NAMES",
    "GeneratedRecipe",
    "Recipe",
    "check_target",
    "chosen_recipe",
    "get_recipe",
    "recipe_of",
]
