// Return the nouns in graphs that another dialogue may also mention, such as "window", and the top nodes of sentences
// that fit any dialogue, such as "I left the windows open."
// The conditions must be the same as in the transform topical_statement, which copies such sentences.
// $amrs: ids of graphs
// Columns: amr, nodes. Each node is a list: position, position of the top of its sentence, concept, noun class, the
//          concept or noun class that a dialogue must mention before the sentence can be copied into it, and whether
//          the node is the top of a sentence that fits any dialogue.
UNWIND $amrs AS amr
MATCH (n:AmrNode {amr: amr})
WHERE
  // The noun can be mentioned again ("window"), and can be compared with other nouns by its noun class.
  n.topical AND n.noun_class <> ''
  // The node is the top of a sentence that fits any dialogue: "I left the windows open."
  OR n.context_free
WITH amr, n.position AS position, [
       n.position, n.sentence_top, n.concept, coalesce(n.noun_class, ''),
       CASE
         // A statement is copied into dialogues that mention its noun. If no other noun can replace the noun, the
         // dialogue must mention exactly this noun.
         WHEN n.substitutable_kind IS NULL OR NOT n.noun_class IN n.selectional_preferences THEN n.concept
         // If other nouns can replace the noun, the dialogue may mention any noun of the same class. This noun
         // replaces the noun of the statement: in a dialogue about a car, "I sold the boat" becomes "I sold the car".
         ELSE n.noun_class
       END,
       coalesce(n.context_free, false)] AS node
ORDER BY amr, position
RETURN amr, collect(node) AS nodes
