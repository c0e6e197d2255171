"""Small word vectors that come with graphneg; see NOTICE."""
