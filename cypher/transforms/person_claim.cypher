// person_claim: Replaces a turn by a reply that repeats a statement about one person as a statement about another one.
// category: C-speaker
// source: Gupta et al. (2021), error category C-speaker
// needs: claims
//
// Before: A: My sister lives in Rome.  B: That's nice.
// After:  A: My sister lives in Rome.  B: So you live in Rome?
// Graph:  (n / nice-01 :ARG1 (t / that))
//   => (l / live-01 :ARG0 (y / you) :location (c / city ...) :mode interrogative)
//
// A statement of the other speaker is repeated in a reply frame such as "So ...?" (see negated_claim), but about a
// different person.
//
// Two kinds of persons change. A third person becomes the other speaker: "My sister lives in Rome" becomes "So you
// live in Rome?" In statements about what a speaker must or will do, "I" stays "I" and now means the speaker of the
// reply. For example, "I have to work" becomes "So I have to work?"

UNWIND $dialogues AS d
UNWIND d.claims AS claim
WITH d.id AS dialogue, claim
WHERE claim.kind = 'statement'
  // The other speaker does not repeat "We went to Rome", because "we" may or may not include the other speaker.
  AND NOT claim.about_group
MATCH (n:AmrNode {amr: claim.amr})
WITH dialogue, claim, collect(n) AS nodes
WITH dialogue, claim, nodes, head([n IN nodes WHERE n.position = claim.position]) AS predicate
WHERE
  // The main predicate is the top of its sentence ("know" in "I know that she loves letters"), or the ARG1 of the top:
  // in "I stayed because it rained", the top is cause-01, and its ARG1 is the main clause.
  (claim.position = claim.sentence OR predicate.parent = claim.sentence AND predicate.role = 'ARG1')
  // Skip "I think that it rains", because the reply "So you think that it rains?" is about the rain and not
  // about the person who thinks.
  AND NOT 'thinking' IN predicate.classes
  // Skip short answers: "She did last year."
  AND NOT predicate.concept IN ['do-02', 'name-01']
WITH dialogue, claim, nodes, predicate,
     // The nodes "I" and "you" in the sentence of the claim.
     [n IN nodes WHERE n.concept IN ['i', 'you'] AND claim.sentence IN n.pronoun_sentences] AS speakers,
     // A third person: the subject of the predicate, or the person who must do something.
     [n IN nodes WHERE n.parent = claim.position AND n.role IN ['ARG0', 'ARG1', 'domain']
        AND (n.concept IN ['he', 'she'] OR n.concept = 'person' AND n.has_name
          // The phrase refers to a particular person: "my sister", not "a teacher".
          OR n.kind = 'person' AND any(part IN nodes WHERE part.parent = n.position
            AND (part.role = 'poss' OR part.concept = 'have-rel-role-91')))] AS people
WITH dialogue, claim, nodes,
     CASE
       // "He has to work on Sunday" becomes "Why do you have to work on Sunday?" "I" and "you" may occur only
       // inside the phrase that is replaced, such as "my sister". "He called me" would become "You called you".
       WHEN size(people) = 1 AND all(s IN speakers WHERE head(people).position < s.position
         AND s.position <= head(people).subtree_last)
         THEN [{person: head(people), concept: 'you', frames: ['check', 'why', 'surprise', 'meaning']}]
       // "I have to work on Sunday" becomes "Why do I have to work on Sunday?": the pronoun stays. The frame "meaning"
       // is not used, because "What do you mean, I have to work on Sunday?" would quote the other speaker.
       WHEN size(people) = 0 AND size(speakers) = 1 AND (
           predicate.concept IN ['obligate-01', 'need-01'] AND head(speakers).concept = 'i'
           OR predicate.concept = 'recommend-01' AND head(speakers).concept = 'you')
         THEN [{person: head(speakers), concept: head(speakers).concept, frames: ['check', 'why']}]
       // "I'll bring the wine" becomes "So I'll bring the wine?", but not "Why will I bring the wine?"
       WHEN size(people) = 0 AND size(speakers) = 1 AND predicate.tense = 'future' AND 'ARG0' IN predicate.roles
           AND NOT 'timeless' IN predicate.classes AND NOT 'desiring' IN predicate.classes
         THEN [{person: head(speakers), concept: head(speakers).concept, frames: ['check']}]
       ELSE []
     END AS changes
UNWIND changes AS change
// Replace a later turn by a copy of the claim ("My sister lives in Rome"). Then replace the person in this copy ("You
// live in Rome"). When "you" replaces "my sister", the branch for "my" is dropped.
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: claim.position, context_free: claim.context_free,
    frames: change.frames}]
  + [part IN nodes WHERE part.parent = change.person.position AND NOT change.person.concept IN ['i', 'you']
       // These roles are branches of the noun, such as "my" (poss) in "my sister".
       AND part.role IN ['ARG0-of', 'poss', 'name', 'mod', 'ARG1-of', 'quant']
     | {position: part.position, op: 'drop', copy_of: claim.amr}]
  + [{position: change.person.position, op: 'set', concept: change.concept, copy_of: claim.amr}] AS edit
// Sort the edits: the servers read the nodes of a graph in different orders.
WITH dialogue, claim, change, edit,
     CASE edit.op WHEN 'say' THEN -1 WHEN 'drop' THEN edit.position ELSE 1000000 END AS rank
ORDER BY dialogue, rank
RETURN dialogue, collect(edit {.*, site: claim.id + '>' + change.concept}) AS edits
