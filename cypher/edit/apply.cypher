// Writes variants: each an overlay of its dialogue, edits to come.
// $variants: {dialogue: id, properties}
// Columns: variants
UNWIND $variants AS row
MATCH (d:Dialogue {id: row.dialogue})
CREATE (v:Variant)-[:VARIANT_OF]->(d) SET v = row.properties
RETURN count(*) AS variants
