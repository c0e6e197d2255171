// oppose: Replaces a concept by its antonym; a verb becomes a frame that exists and has the roles in use.
// category: C-cont
// source: DEAM (Ghazarian et al. 2022), contradiction
// needs: opposites, frames
// target: dialogue
//
// One hop over ANTONYM: what of ConceptNet's antonyms may stand in a word's place was judged when
// they were loaded, as a noun, a modifier or a frame. The new frame has a doer, and something
// done, if the old one has, and all roles in use. What a word has as its opposite in one sense
// only (old is young of people, new of things) says of which kinds of things. Questions, names,
// degrees and what is negated already stay as they are. The turns after an opposite show that it is
// wrong, the more so where the word was said before.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE n.asserts IS NOT NULL
MATCH (n)-[:LEXEME]->(w:Term)
WHERE w.antonyms
MATCH (w)-[a:ANTONYM]->(x)
WHERE (a.used_as = n.asserts OR a.used_as = 'frame' AND n.frame AND NOT n.asserts IN a.known
    AND ('ARG0' IN n.roles) = ('ARG0' IN x.roles) AND ('ARG1' IN n.roles) = ('ARG1' IN x.roles))
  AND all(role IN n.roles WHERE role IN x.roles) AND (a.said_of IS NULL
    OR n.said_of IS NOT NULL AND all(kind IN n.said_of WHERE kind IN a.said_of))
WITH d.id AS dialogue, n, coalesce(x.lemma, x.text) AS word, min(coalesce(x.id, x.text)) AS concept
RETURN dialogue, collect({amr: n.amr, k: n.k, op: 'set', concept: concept,
    score: size(coalesce(n.echo, [])),
    site: n.amr + '.' + toString(n.k) + '>' + concept}) AS edits
