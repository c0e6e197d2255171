// Return a page of the sentences in the sentence pool that were loaded from text files, sorted by id. Sentences from
// dialogues and sentences that graphneg provides are left out.
// $after: id of the last sentence of the previous page; '' for the first page
// $limit: maximum number of sentences
// Columns: id, text, source, finite (true if the sentence has a finite verb)
MATCH (s:Sentence)
WHERE s.id > $after
  // The sentence does not come from a dialogue.
  AND s.dialogue = ''
  // The sentence is not from the collection of short anecdotes that graphneg itself provides.
  AND s.source <> 'anecdotes'
RETURN s.id AS id, s.text AS text, s.source AS source, s.finite AS finite
ORDER BY id
LIMIT $limit
