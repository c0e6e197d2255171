// What parsers made of texts before. $ids: digests of parser, version and text
// Columns: id, penman, spans (numbers: node, first token, token behind the last; and so on), warnings
UNWIND $ids AS id
MATCH (p:Parse {id: id})
RETURN p.id AS id, p.penman AS penman, p.spans AS spans, p.warnings AS warnings
