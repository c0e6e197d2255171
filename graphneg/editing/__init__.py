"""Edit AMR graphs: transforms, recipes, edit plans, variants in the store, and the resulting negatives."""
