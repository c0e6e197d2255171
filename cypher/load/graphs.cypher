// Write the nodes of AMR graphs, and link them to each other and to the terms of their words.
// Relationships refer to nodes by their index in $nodes, so that no node must be looked up. CREATE lists the properties
// by name, because that is up to twice as fast as SET with a map.
// $nodes: maps of the properties of an AmrNode
// $roles: maps of from and to (indexes in $nodes) and the properties of a ROLE relationship
// $lexemes: maps of text (of a term), kind (of the noun, or null) and nodes (indexes in $nodes)
// Columns: lexemes (number of LEXEME relationships written)
UNWIND $nodes AS row
CREATE (n:AmrNode {
  id: row.id, amr: row.amr, k: row.k, last: row.last, var: row.var, concept: row.concept, value: row.value,
  frame: row.frame, kind: row.kind, up: row.up, role: row.role, pos: row.pos, start: row.start, end: row.end,
  align: row.align, role_align: row.role_align,
  classes: row.classes, sentence: row.sentence, clause_of: row.clause_of, clause: row.clause, main: row.main,
  negated: row.negated, denied_by: row.denied_by, asked_by: row.asked_by, ordered_by: row.ordered_by,
  modal: row.modal, tense: row.tense, dated: row.dated, event: row.event, acts: row.acts,
  stands: row.stands, portable: row.portable, asks: row.asks, detail: row.detail, depth: row.depth,
  tied: row.tied, asserts: row.asserts, roles: row.roles, said_of: row.said_of, noun: row.noun,
  slot: row.slot, open_to: row.open_to, phrase: row.phrase, names: row.names, name: row.name,
  says_when: row.says_when, fixed: row.fixed, number: row.number, expletive: row.expletive,
  handled: row.handled, named: row.named, topic: row.topic, deixis: row.deixis,
  said_in: row.said_in, parts: row.parts, questions: row.questions,
  only_asks: row.only_asks, orders: row.orders, wonders: row.wonders, permits: row.permits,
  echo: row.echo, sort: row.sort, takes: row.takes})
WITH collect(n) AS ns
FOREACH (row IN $roles |
  FOREACH (a IN [ns[row.from]] |
    FOREACH (b IN [ns[row.to]] |
      CREATE (a)-[:ROLE {
        role: row.role, pos: row.pos, inverted: row.inverted, reentrant: row.reentrant,
        align: row.align, role_align: row.role_align}]->(b))))
WITH ns
UNWIND $lexemes AS row
MATCH (t:Term {text: row.text})
FOREACH (one IN CASE WHEN t.kind IS NULL THEN [t] ELSE [] END | SET one.kind = row.kind)
WITH t, row, ns
UNWIND row.nodes AS place
WITH t, ns[place] AS n
CREATE (n)-[:LEXEME]->(t)
RETURN count(*) AS lexemes
