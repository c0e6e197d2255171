// person_claim: Replaces a turn by a reply that repeats a statement about one person as a statement about another one.
// category: C-speaker
// source: Gupta et al. (2021), error category C-speaker
//
// Before: A: My sister lives in Rome.  B: That's nice.
// After:  A: My sister lives in Rome.  B: So you live in Rome?
// Graph:  (n / nice-01 :ARG1 (t / that))
//   => (l / live-01 :ARG0 (y / you) :location (c / city ...) :mode interrogative)
//
// A statement of the other speaker is repeated in a reply frame such as "So ...?" (see negated_claim), but about a
// different person. The query works in three steps:
//   1. Find the statements that can be repeated, the later turns and the people.
//   2. Choose the person that changes, the later turns to replace and the reply frames.
//   3. Make the edits: replace the turn by a copy of the statement, then change the person in the copy.
//
// Two kinds of persons change. A third person becomes the other speaker: "My sister lives in Rome" becomes "So you
// live in Rome?" In statements about what a speaker must or will do, "I" stays "I" and now means the speaker of the
// reply. For example, "I have to work" becomes "So I have to work?"

// Step 1: find the earlier statements, the later turns that can be replaced, and the people.
UNWIND $dialogues AS d
UNWIND d.turns AS t
MATCH (n:AmrNode {amr: t.amr})
WHERE
  // The node is the top of the graph of a turn. The edit "say" replaces it and everything below it.
  n.position = 0
  // The node is the main predicate of a sentence that can be repeated later: "She loves letters."
  OR n.repeatable IS NOT NULL
  // The node is a speaker or a group.
  OR n.concept IN ['i', 'you', 'we']
  // The node is a third person: "he", "my sister", "Tom".
  OR n.concept IN ['he', 'she'] OR n.kind = 'person' OR n.has_name
  // The node is below the node of a third person, such as "my" in "my sister". It is dropped if "you" replaces the
  // person.
  OR n.role IN ['ARG0-of', 'poss', 'name', 'mod', 'ARG1-of', 'quant']
WITH d.id AS dialogue,
     collect({node: n, position: n.position, amr: n.amr, turn: t.turn, speaker: t.speaker}) AS nodes
WITH dialogue, nodes, [n IN nodes WHERE n.position = 0] AS tops,
     [n IN nodes WHERE n.node.concept = 'we'] AS groups
UNWIND [n IN nodes WHERE
  n.node.repeatable IS NOT NULL
  // Only statements can be contradicted. "Where is it?" and "Sit down!" claim nothing.
  AND n.node.clause_type = 'statement'
  // The node is the top of its sentence ("know" in "I know that she loves letters"), or the ARG1 of the top: in "I
  // stayed because it rained", the top is cause-01, and its ARG1 is the main clause.
  AND (n.position = n.node.sentence_top OR n.node.parent = n.node.sentence_top AND n.node.role = 'ARG1')
  // Skip long sentences, because readers do not notice a small change in them.
  AND n.node.subtree_last - n.position <= 16
  // Skip "I think that it rains", because the reply "So you think that it rains?" is about the rain and not
  // about the person who thinks.
  AND NOT 'thinking' IN n.node.classes
  // Skip short answers: "She did last year."
  AND NOT n.node.concept IN ['do-02', 'name-01']] AS claim

// Step 2: choose the person that changes, the later turns to replace and the reply frames.
WITH dialogue, nodes, tops, claim, claim.node AS predicate,
     coalesce(claim.node.repeatable, '') = 'anywhere' AS context_free,
     // The nodes "I" and "you" in the statement.
     [s IN nodes WHERE s.amr = claim.amr AND s.node.concept IN ['i', 'you']
       AND claim.node.sentence_top IN s.node.pronoun_sentences] AS speakers,
     // A third person: the subject of the predicate, or the person who must do something.
     [p IN nodes WHERE p.amr = claim.amr AND p.node.parent = claim.position
        AND p.node.role IN ['ARG0', 'ARG1', 'domain']
        AND (p.node.concept IN ['he', 'she'] OR p.node.concept = 'person' AND p.node.has_name
          // The phrase refers to a particular person: "my sister", not "a teacher".
          OR any(part IN nodes WHERE part.amr = p.amr AND part.node.parent = p.position
            AND (part.node.role = 'poss' OR part.node.concept = 'have-rel-role-91')))] AS people
WHERE none(w IN groups WHERE w.amr = claim.amr AND claim.node.sentence_top IN w.node.pronoun_sentences)
WITH dialogue, nodes, tops, claim, predicate, context_free,
     CASE
       // "He has to work on Sunday" becomes "Why do you have to work on Sunday?" "I" and "you" may occur only
       // inside the phrase that is replaced, such as "my sister". "He called me" would become "You called
       // you".
       WHEN size(people) = 1 AND all(s IN speakers WHERE head(people).position < s.position
         AND s.position <= head(people).node.subtree_last) THEN [{person: head(people), concept: 'you', frames: ['check', 'why', 'surprise', 'meaning']}]
       // "I have to work on Sunday" becomes "Why do I have to work on Sunday?": the pronoun stays.
       WHEN size(people) = 0 AND size(speakers) = 1 AND (
           predicate.concept IN ['obligate-01', 'need-01'] AND head(speakers).node.concept = 'i'
           OR predicate.concept = 'recommend-01' AND head(speakers).node.concept = 'you')
         THEN [{person: head(speakers), concept: head(speakers).node.concept, frames: ['check', 'why', 'meaning']}]
       // "I'll bring the wine" becomes "So I'll bring the wine?", but not "Why will I bring the wine?"
       WHEN size(people) = 0 AND size(speakers) = 1 AND predicate.tense = 'future' AND 'ARG0' IN predicate.roles
           AND NOT 'timeless' IN predicate.classes AND NOT 'desiring' IN predicate.classes
         THEN [{person: head(speakers), concept: head(speakers).node.concept, frames: ['check', 'meaning']}]
       ELSE []
     END AS changes
UNWIND [top IN tops WHERE
  // The later turn is by the other speaker: speakers would not ask what they themselves want or have done.
  top.turn > claim.turn AND top.speaker <> claim.speaker
  // "She loves it" is repeated only in the next turn. Later, it may be unclear who "she" is. "My sister loves
  // letters" is clear without its context, so it can be repeated up to four turns later.
  AND (top.turn = claim.turn + 1 OR context_free AND top.turn <= claim.turn + 4)] AS top
UNWIND changes AS change
UNWIND change.frames AS frame

// Step 3: make the edits. When "you" replaces "my sister", the branch for "my" is dropped.
UNWIND [{position: 0, op: 'say', from_amr: predicate.amr, from_position: predicate.position, voice: 'other',
         frame: frame}]
  + [part IN nodes WHERE part.amr = predicate.amr AND part.node.parent = change.person.position
       AND NOT change.person.node.concept IN ['i', 'you']
     | {position: part.position, op: 'drop', copy_of: predicate.amr}]
  + [{position: change.person.position, op: 'set', concept: change.concept, copy_of: predicate.amr}] AS edit
// Sort the edits: the servers read the nodes of a graph in different orders.
WITH dialogue, predicate, top, change, frame, edit,
     CASE edit.op WHEN 'say' THEN -1 WHEN 'drop' THEN edit.position ELSE 1000000 END AS rank
ORDER BY dialogue, rank
RETURN dialogue, collect(edit {.*, amr: top.amr,
  site: top.amr + '<' + predicate.amr + '.' + toString(predicate.position) + '>' + change.concept + '>' + frame}) AS edits
