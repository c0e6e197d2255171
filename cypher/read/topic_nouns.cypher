// Return the nouns in graphs that another dialogue can share, and the tops of the sentences that fit any dialogue.
// The conditions must be the same as in the transform topical_statement, which copies such sentences.
// $amrs: ids of graphs
// Columns: amr, nodes (a list for each node: position, position of the top of its sentence, concept, noun class, what the
//          other dialogue must mention, and whether the node is the top of a sentence that fits any dialogue)
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
         // The other dialogue must mention the same noun if no other noun can take its place.
         WHEN n.substitutable_kind IS NULL OR NOT n.noun_class IN n.selectional_preferences THEN n.concept
         // Otherwise any noun of the same class will do: "I sold the boat" can become "I sold the car".
         ELSE n.noun_class
       END,
       coalesce(n.context_free, false)] AS node
ORDER BY amr, position
RETURN amr, collect(node) AS nodes
