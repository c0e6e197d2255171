// takes: Which nouns a predicate takes, counted in all graphs of the store.
// $frame: a PropBank frame, such as eat-01
// $limit (20): rows at most
// Columns: role, noun, sort (what the noun is like), count, example (one of the texts)
MATCH (:Term {text: replace(left($frame, size($frame) - 3), '-', ' ')})<-[:LEXEME]-(p:AmrNode)
WHERE p.concept = $frame
MATCH (p)-[r:ROLE]->(n:AmrNode)-[:LEXEME]->(t:Term)
WHERE r.role STARTS WITH 'ARG' AND n.noun IS NOT NULL
WITH r.role AS role, t.text AS noun, n.sort AS sort, count(*) AS count, min(n.amr) AS amr
ORDER BY role, count DESC, noun
LIMIT $limit
OPTIONAL MATCH (:Amr {id: amr})<-[:MEANS]-(u:Utterance)
RETURN role, noun, sort, count, u.text AS example
ORDER BY role, count DESC, noun
