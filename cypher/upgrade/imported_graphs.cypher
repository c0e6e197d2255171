// Restore the empty lists on nodes of graphs. The files of a bulk import cannot hold empty lists and have a mark instead.
// $ids: ids of graphs
// $empty: the mark that stands for an empty list
// Columns: nodes (number changed)
UNWIND $ids AS id
MATCH (n:AmrNode {amr: id})
WHERE n.classes = $empty OR n.roles = $empty
SET n.classes = CASE WHEN n.classes = $empty THEN [] ELSE n.classes END,
  n.roles = CASE WHEN n.roles = $empty THEN [] ELSE n.roles END
RETURN count(*) AS nodes
