// predicate_arguments: The nouns that a predicate takes as arguments, counted in all graphs of the store.
// $frame: a PropBank frame, such as eat-01
// $limit (20): maximum number of rows, sorted by role and then by count
// Columns: role, noun, noun_class (class of the noun), count (number of times that the noun has this role), example
//          (text of an utterance with this predicate and this noun, or null)
MATCH (:Term {text: replace(left($frame, size($frame) - 3), '-', ' ')})<-[:LEXEME]-(p:AmrNode)
WHERE p.concept = $frame
// ROLE always points from the predicate to the argument, even if the role is inverted in the PENMAN text (:ARG0-of).
MATCH (p)-[r:ROLE]->(n:AmrNode)-[:LEXEME]->(t:Term)
WHERE
  // Core roles only: in "We ate pizza in Rome", "Rome" is the location and not an argument of eat-01.
  r.role STARTS WITH 'ARG'
  // The argument is a noun. In "I want to eat", the argument of want-01 is a verb.
  AND n.coarse_kind IS NOT NULL
WITH r.role AS role, t.text AS noun, n.noun_class AS noun_class, count(*) AS count, min(n.amr) AS amr
ORDER BY role, count DESC, noun
LIMIT $limit
OPTIONAL MATCH (:Amr {id: amr})<-[:MEANS]-(u:Utterance)
RETURN role, noun, noun_class, count, u.text AS example
ORDER BY role, count DESC, noun
