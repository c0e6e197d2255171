// Write the nodes of AMR graphs, and link them to each other and to the terms of their words.
// Relationships refer to nodes by their index in $nodes, so that the server does not have to look up any node. CREATE
// lists the properties by name, because this is up to twice as fast as SET with a map.
// $nodes: maps of the properties of an AmrNode
// $roles: maps of from and to (indices in $nodes) and the properties of a ROLE relationship
// $lexemes: maps of text (of a term), kind (of the noun, or null) and nodes (indices in $nodes)
// Columns: lexemes (number of LEXEME relationships written)
UNWIND $nodes AS row
CREATE (n:AmrNode {
  id: row.id, amr: row.amr, position: row.position, subtree_last: row.subtree_last, var: row.var,
  concept: row.concept, value: row.value, frame: row.frame, kind: row.kind, parent: row.parent,
  role: row.role, branch: row.branch, start: row.start, end: row.end, align: row.align,
  role_align: row.role_align, classes: row.classes, sentence_top: row.sentence_top,
  clause_head: row.clause_head, clause_type: row.clause_type, main_clause: row.main_clause,
  negated: row.negated, negation_position: row.negation_position, question_position: row.question_position,
  imperative_position: row.imperative_position, modal: row.modal, tense: row.tense,
  time_bound: row.time_bound, undated_event: row.undated_event, alternative_acts: row.alternative_acts,
  repeatable: row.repeatable, context_free: row.context_free, asked_roles: row.asked_roles,
  prunable_detail: row.prunable_detail, depth: row.depth, reentrant_top: row.reentrant_top,
  opposable_as: row.opposable_as, roles: row.roles, modified_kinds: row.modified_kinds,
  coarse_kind: row.coarse_kind, argument_type: row.argument_type, substitutable_kind: row.substitutable_kind,
  phrase: row.phrase, entity_type: row.entity_type, entity_text: row.entity_text, temporal: row.temporal,
  fixed_time: row.fixed_time, time_number: row.time_number, expletive: row.expletive,
  possessed_or_perceived: row.possessed_or_perceived, has_name: row.has_name, topical: row.topical,
  person_role: row.person_role, pronoun_sentences: row.pronoun_sentences, top_branches: row.top_branches,
  question_sentences: row.question_sentences, only_questions: row.only_questions,
  has_imperative: row.has_imperative, hedged: row.hedged, has_modal: row.has_modal, repeats: row.repeats,
  noun_class: row.noun_class, selectional_preferences: row.selectional_preferences})
WITH collect(n) AS ns
FOREACH (row IN $roles |
  FOREACH (a IN [ns[row.from]] |
    FOREACH (b IN [ns[row.to]] |
      CREATE (a)-[:ROLE {
        role: row.role, branch: row.branch, inverted: row.inverted, reentrant: row.reentrant,
        align: row.align, role_align: row.role_align}]->(b))))
WITH ns
UNWIND $lexemes AS row
MATCH (t:Term {text: row.text})
// Set the kind of a term only once: the first noun that is loaded determines it.
FOREACH (one IN CASE WHEN t.kind IS NULL THEN [t] ELSE [] END | SET one.kind = row.kind)
WITH t, row, ns
UNWIND row.nodes AS node
WITH t, ns[node] AS n
CREATE (n)-[:LEXEME]->(t)
RETURN count(*) AS lexemes
