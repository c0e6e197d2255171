// Removes a part of the keywords of utterances. $limit: how many at most
// Columns: gone
MATCH (:Utterance)-[r:MENTIONS]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
