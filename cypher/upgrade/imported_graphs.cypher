// Empties the lists of graphs that a bulk import left with a mark, since its files know no empty lists.
// $ids: ids of graphs; $empty: the list that stands for an empty one
// Columns: nodes
UNWIND $ids AS id
MATCH (n:AmrNode {amr: id})
WHERE n.classes = $empty OR n.roles = $empty
SET n.classes = CASE WHEN n.classes = $empty THEN [] ELSE n.classes END,
  n.roles = CASE WHEN n.roles = $empty THEN [] ELSE n.roles END
RETURN count(*) AS nodes
