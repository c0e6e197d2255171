// Writes dialogues that are not in the store yet, with their turns.
// $dialogues:  properties of a Dialogue each
// $utterances: {dialogue: place in $dialogues, properties}
// $next:       [place of an utterance in $utterances, place of the one that follows]
// Columns: utterances
UNWIND $dialogues AS row
CREATE (d:Dialogue) SET d = row
WITH collect(d) AS dialogues
UNWIND $utterances AS row
WITH dialogues[row.dialogue] AS d, row.properties AS properties
CREATE (d)-[:HAS_TURN]->(u:Utterance) SET u = properties
WITH collect(u) AS utterances
UNWIND $next AS pair
WITH utterances[pair[0]] AS a, utterances[pair[1]] AS b
CREATE (a)-[:NEXT]->(b)
RETURN count(*) AS pairs
