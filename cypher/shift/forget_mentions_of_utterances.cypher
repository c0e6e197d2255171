// Delete up to $limit links (MENTIONS) from utterances to their keywords.
// $limit: maximum number of links
// Columns: gone (number of links deleted)
MATCH (:Utterance)-[r:MENTIONS]->(:Term)
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS gone
