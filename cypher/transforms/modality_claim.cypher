// modality_claim: Replaces a turn by a reply that repeats a statement with another modality: "have to" for "want to".
// category: C-cont
// source: Gupta et al. (2021), error category C-cont
// needs: claims
//
// Before: A: I want to get my car washed on Friday.  B: No problem.
// After:  A: I want to get my car washed on Friday.  B: What do you mean, you have to get your car washed on Friday?
// Graph:  (n / no :mod-of (p / problem))
//   => (m / mean-01 :ARG2 (o / obligate-01 :ARG2 (g / get-05 :ARG0 (y / you) ...) :ARG1 y) :ARG0 y
//        :ARG1 (a / amr-unknown))
//
// A statement of the other speaker is repeated in a reply frame such as "Why ...?" (see negated_claim), with another
// modality.

UNWIND $dialogues AS d
UNWIND d.claims AS claim
WITH d.id AS dialogue, claim
WHERE claim.kind = 'statement'
  // Skip negative claims: "I don't want to go" and "I don't have to go" may both be true.
  AND NOT claim.negated
MATCH (n:AmrNode {amr: claim.amr})
WITH dialogue, claim, collect(n) AS nodes
WITH dialogue, claim, nodes, head([n IN nodes WHERE n.position = claim.position]) AS predicate
WITH dialogue, claim, nodes, predicate,
     // The action: the main predicate ("I live in Rome"), or the action below a modality ("I want to buy a car").
     [n IN nodes WHERE n.frame
        AND CASE WHEN 'modal' IN predicate.classes OR 'desiring' IN predicate.classes
          THEN n.parent = claim.position AND n.role IN ['ARG1', 'ARG2']
          ELSE n.position = claim.position END] AS actions
WHERE size(actions) = 1
  // The claim is about a speaker or another person. Things neither want nor plan anything.
  AND any(n IN nodes WHERE
    n.concept IN ['i', 'you'] AND claim.sentence IN n.pronoun_sentences
    OR (n.concept IN ['he', 'she', 'they', 'person'] OR n.kind = 'person')
      AND n.parent IN [claim.position, head(actions).position] AND n.role IN ['ARG0', 'ARG1'])
WITH dialogue, claim, predicate, head(actions).position AS action,
     // True if people do the action on purpose: "buy", but not "lose". "I want to lose my keys" would be strange.
     'deliberate' IN head(actions).classes AS deliberate
// Choose a modality that contradicts the claim, such as "have to" for "want to".
UNWIND CASE
    // "You have to pay by card" becomes "So I can't pay by card?" With other modalities, speakers would ask about their
    // own wishes: "Why do I want to pay by card?"
    WHEN claim.about_addressee AND predicate.concept IN ['obligate-01', 'recommend-01', 'need-01']
      THEN [{concept: 'possible-01', role: 'ARG1', polarity: '-'}]
    // "You can pay by card" becomes "What do you mean, I have to pay by card?" The frame "So ...?" is not used, because
    // "So I have to pay by card?" would be a sensible question.
    WHEN predicate.concept = 'possible-01' AND predicate.tense = 'present'
      THEN [{concept: 'obligate-01', role: 'ARG2', frames: ['meaning']}]
    // "I'll call you tomorrow" becomes "So you can't call me tomorrow?"
    WHEN action = claim.position AND predicate.tense = 'future' AND NOT 'timeless' IN predicate.classes
      THEN [{concept: 'possible-01', role: 'ARG1', polarity: '-'}]
    WHEN claim.about_addressee THEN []
    // "I want to get my car washed" becomes "What do you mean, you have to get your car washed?" "So you have to get
    // your car washed?" would be a sensible question.
    WHEN predicate.concept IN ['want-01', 'like-02', 'plan-01', 'hope-01']
      THEN [{concept: 'obligate-01', role: 'ARG2', frames: ['meaning']}]
    // "I have to work on Sunday" becomes "Why do you want to work on Sunday?" or "Why can't you work on Sunday?" "I had
    // to work on Sunday" is not used.
    WHEN predicate.concept IN ['obligate-01', 'need-01'] AND coalesce(predicate.tense, '') <> 'past'
      THEN [{concept: 'possible-01', role: 'ARG1', polarity: '-'}]
        + CASE WHEN deliberate THEN [{concept: 'want-01', role: 'ARG1'}] ELSE [] END
    // An action in the present does not become a wish. People usually want to do what they do, so "Why do you want to
    // return a cellphone?" is a sensible reply to "I'm returning a cellphone".
    ELSE []
  END AS modality
// Replace a later turn by a copy of the action ("get my car washed"). Then put the new modality above this copy ("have
// to get my car washed").
UNWIND [
  {op: 'say', from_amr: claim.amr, from_position: action, context_free: claim.context_free,
    frames: [frame IN claim.frames WHERE frame <> 'said' AND frame IN coalesce(modality.frames, claim.frames)]},
  {position: -1, op: 'wrap', concept: modality.concept, role: modality.role, copy_of: claim.amr},
  {position: -1, op: 'add', role: 'polarity', value: modality.polarity, copy_of: claim.amr}] AS edit
// An affirmative modality such as "have to" needs no negation, so leave out the edit that would add one.
WITH dialogue, claim, modality, edit
WHERE edit.op <> 'add' OR edit.value IS NOT NULL
RETURN dialogue, collect(edit {.*, site: claim.id + '>' + modality.concept}) AS edits
