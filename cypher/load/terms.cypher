// Makes sure that terms are there. $terms: texts, sorted, so that writers lock in one order.
// Columns: terms
UNWIND $terms AS text
MERGE (t:Term {text: text})
RETURN count(*) AS terms
