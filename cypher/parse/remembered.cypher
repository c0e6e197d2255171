// Return cached results of a parser.
// $ids: ids of results, which are digests of parser, version and text
// Columns: id, penman, spans (a flat list of triples: node, index of the first token, index after the last token),
//          warnings
UNWIND $ids AS id
MATCH (p:Parse {id: id})
RETURN p.id AS id, p.penman AS penman, p.spans AS spans, p.warnings AS warnings
