// Delete the clauses of dialogues, so that they can be computed again.
// $ids: ids of dialogues
// Columns: clauses (number of clauses deleted)
UNWIND $ids AS id
MATCH (c:Clause {dialogue: id})
DETACH DELETE c
RETURN count(*) AS clauses
