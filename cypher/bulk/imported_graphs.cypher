// Replace the marks for empty lists by empty lists on the nodes of graphs. The files of a bulk import cannot represent
// empty lists, so they contain a mark instead.
// $ids: ids of graphs
// $empty: mark that stands for an empty list
// Columns: nodes (number of nodes changed)
UNWIND $ids AS id
MATCH (n:AmrNode {amr: id})
WHERE n.classes = $empty OR n.roles = $empty
SET n.classes = CASE WHEN n.classes = $empty THEN [] ELSE n.classes END,
  n.roles = CASE WHEN n.roles = $empty THEN [] ELSE n.roles END
RETURN count(*) AS nodes
