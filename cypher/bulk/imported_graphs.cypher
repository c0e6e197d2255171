// In the list properties of graph nodes, replace each placeholder for an empty list by an empty list. The files of a
// bulk import contain such placeholders, because they cannot represent empty lists.
// $ids: ids of graphs
// $empty: the placeholder
// Columns: nodes (number of nodes changed)
UNWIND $ids AS id
MATCH (n:AmrNode {amr: id})
WHERE n.classes = $empty OR n.roles = $empty
SET n.classes = CASE WHEN n.classes = $empty THEN [] ELSE n.classes END,
  n.roles = CASE WHEN n.roles = $empty THEN [] ELSE n.roles END
RETURN count(*) AS nodes
