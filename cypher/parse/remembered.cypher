// Return what a parser made of texts before.
// $ids: digests of parser, version and text
// Columns: id, penman, spans (a flat list of triples: node, first token, end token, exclusive), warnings
UNWIND $ids AS id
MATCH (p:Parse {id: id})
RETURN p.id AS id, p.penman AS penman, p.spans AS spans, p.warnings AS warnings
