"""Make negatives by editing AMR graphs: transforms, recipes, edit plans, and variants in the store."""
