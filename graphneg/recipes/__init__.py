"""Recipes: which transforms a negative is made with, and how many of them."""

from graphneg.recipes.recipe import RECIPES, Recipe, get_recipe, recipe_of

__all__ = ["RECIPES", "Recipe", "get_recipe", "recipe_of"]
