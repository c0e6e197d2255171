// tense_claim: Replaces a turn by a reply that treats a plan as done, or something done as a plan.
// category: C-time
// source: Gupta et al. (2021), error category C-time
// needs: claims
//
// Before: A: I want to get my car washed on Friday.  B: No problem.
// After:  A: I want to get my car washed on Friday.  B: So you've already got your car washed?
// Graph:  (n / no :mod-of (p / problem))
//   => (g / get-05 :time (a / already) :ARG0 (y / you) ... :mode interrogative)
//
// A statement of the other speaker is repeated in a reply frame such as "So ...?" (see negated_claim). AMR does not
// express tense. Therefore the edit adds the node "already" to a plan, and the node want-01 above something that is
// done.

UNWIND $dialogues AS d
UNWIND d.claims AS claim
WITH d.id AS dialogue, claim
WHERE claim.kind = 'statement'
  // Skip negative claims: "I don't want to go" and "I haven't gone" may both be true.
  AND NOT claim.negated
MATCH (n:AmrNode {amr: claim.amr})
WITH dialogue, claim, collect(n) AS nodes
WITH dialogue, claim, nodes, head([n IN nodes WHERE n.position = claim.position]) AS predicate
WITH dialogue, claim, nodes, predicate,
     // The action: the main predicate ("I live in Rome"), or the action below a modality ("I want to buy a car").
     [n IN nodes WHERE n.frame
        // States have no end: "I want to know it" does not become "You've already known it".
        AND NOT 'timeless' IN n.classes
        AND CASE WHEN 'modal' IN predicate.classes OR 'desiring' IN predicate.classes
          THEN n.parent = claim.position AND n.role IN ['ARG1', 'ARG2']
          ELSE n.position = claim.position END] AS actions
WHERE size(actions) = 1
  // The claim is about a speaker or another person. Things neither want nor plan anything.
  AND any(n IN nodes WHERE
    n.concept IN ['i', 'you'] AND claim.sentence IN n.pronoun_sentences
    OR (n.concept IN ['he', 'she', 'they', 'person'] OR n.kind = 'person')
      AND n.parent IN [claim.position, head(actions).position] AND n.role IN ['ARG0', 'ARG1'])
WITH dialogue, claim, nodes, predicate, head(actions).position AS action
WITH dialogue, claim, nodes, action,
     // The nodes of the times of the action: "yesterday" in "I bought a car yesterday". The edit drops them.
     [n IN nodes WHERE n.role = 'time' AND n.parent = action] AS times,
     CASE
       // "I want to buy a car" becomes "So you've already bought a car?"
       WHEN action <> claim.position AND predicate.tense = 'present'
         AND ('desiring' IN predicate.classes OR predicate.concept = 'obligate-01') THEN 'done'
       // "I'll buy a car" becomes "So you've already bought a car?"
       WHEN action = claim.position AND predicate.tense = 'future' THEN 'done'
       // "I bought a car yesterday" becomes "So you want to buy a car?"
       WHEN action = claim.position AND predicate.tense = 'past' AND NOT claim.about_addressee
         AND 'deliberate' IN predicate.classes THEN 'planned'
     END AS change
WHERE change IS NOT NULL AND size(times) <= 1
  // Skip alternatives. "You must pay or the rate rises" does not become "You've already paid or the rate rises".
  AND size([n IN nodes WHERE n.concept = 'or' AND n.position > claim.sentence AND n.position <= claim.last]) = 0
  // Skip claims with a time that does not belong to the action, because the edit would keep this time.
  AND size([n IN nodes WHERE n.temporal AND n.position > claim.position AND n.position <= claim.last
    AND none(time IN times WHERE time.position <= n.position AND n.position <= time.subtree_last)]) = 0
// Replace the turn by a copy of the action, drop its time, then change the copy.
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: action, context_free: claim.context_free,
    frames: [frame IN claim.frames WHERE
      // Do not use "But you said". After "I bought a car", the reply "But you said you want to buy a car" may be right,
      // because the other speaker may remember an earlier plan.
      frame <> 'said'
      // Do not use "Why" after a plan: "Why have you already bought a car?" is a strange reply to "I'll buy a car".
      AND NOT (change = 'done' AND frame = 'why')]}]
  + [time IN times | {position: time.position, op: 'drop', copy_of: claim.amr}]
  + CASE WHEN change = 'done'
      THEN [{position: action, op: 'add', role: 'time', concept: 'already', copy_of: claim.amr}]
      ELSE [{position: -1, op: 'wrap', role: 'ARG1', concept: 'want-01', copy_of: claim.amr}] END AS edit
RETURN dialogue, collect(edit {.*, site: claim.id}) AS edits
