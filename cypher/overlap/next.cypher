// Return which of the given sentences can be the second sentence of a response.
// $ids: ids of sentences that follow the response's first sentence in the turn from which it comes
// $most: maximum number of words in a sentence
// Columns: id, text, terms (that the sentence mentions), mood (statement, question or exclamation)
UNWIND $ids AS id
MATCH (s:Sentence {id: id})
WHERE s.words <= $most
  // The sentence has a finite verb: "I lost my keys.", but not "What a day!"
  AND s.finite
  // The sentence is carefully written, without links, brackets or words such as "dont".
  AND s.plain
RETURN id, s.text AS text, s.terms AS terms, s.mood AS mood
