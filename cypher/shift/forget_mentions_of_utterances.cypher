// Delete some of the keywords of utterances.
// $limit: maximum number of keywords
// Columns: gone (number deleted)
MATCH (:Utterance)-[r:MENTIONS]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
