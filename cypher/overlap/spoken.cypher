// Return the sentences of the sentence pool that come from dialogues.
// Columns: dialogue (its id), texts (the sentences of the dialogue), terms (for each sentence, a list of its
//          terms)
MATCH (s:Sentence)
// Sentences from text files do not belong to a dialogue.
WHERE s.dialogue <> ''
WITH s ORDER BY s.id
RETURN s.dialogue AS dialogue, collect(s.text) AS texts, collect(s.terms) AS terms
