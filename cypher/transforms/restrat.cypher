// restrat: Changes the dialogue act: statement, yes/no question, order, refusal, agreement or doubt.
// category: C-strat
// source: Gupta et al. (2021), error category C-strat
//
// A statement's main predicate becomes a question (:polarity amr-unknown) or, with you as its :ARG0, an order
// (:mode imperative); a whole statement becomes what the speaker refuses, agrees to or doubts. A yes/no
// question becomes a statement, and an order a yes/no question: "You open the window" would still be an order.
// What the speaker thinks, hopes or regrets is left: nobody asks or doubts that of himself. Nor does anybody
// refuse what he does not do but is in: to want, to have, to be. What could as well be said there (a question that
// is only told, an agreement, a doubt, a question where nothing was asked or after an answer) harms the turns after it,
// and is for negatives of whole dialogues. What is the speaker's own he neither asks nor doubts. Long sentences,
// reported ones and those that open with a clause of their own make no question, what one has or knows no order.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH i, t.turn AS turn, t.amr AS amr, collect(n) AS ns
WITH i, collect({turn: turn, amr: amr, ns: ns}) AS graphs
WITH i, graphs, [g IN graphs WHERE any(n IN g.ns WHERE n.concept = 'amr-unknown' OR n.value = 'interrogative') | g.turn] AS asking
UNWIND graphs AS g
WITH $dialogues[i].id AS dialogue, g.amr AS amr, g.ns AS ns, (g.turn - 1) IN asking AS replies
WITH dialogue, amr, ns, replies,
     [n IN ns WHERE n.concept IN ['multi-sentence', 'and', 'or', 'contrast-01'] | n.k] AS open,
     [n IN ns WHERE n.concept = 'amr-unknown' OR n.value IN ['interrogative', 'expressive']] AS asked,
     [n IN ns WHERE n.role IN ['polarity', 'mode'] AND coalesce(n.concept, n.value) IN ['amr-unknown', 'imperative']] AS acts
WITH dialogue, amr, ns, replies, asked, acts, [n IN ns WHERE n.k = 0 OR n.up IN open AND n.role <> 'time'] AS clauses
WITH dialogue, amr, ns, replies, asked, acts, clauses, [n IN clauses WHERE n.k = 0 OR n.up = 0 | n.k] AS near
WITH dialogue, amr, ns, replies, asked, acts, clauses, near + [n IN clauses WHERE n.up IN near AND n.up > 0 | n.k] AS near
WITH dialogue, amr, ns, replies, asked, acts,
     [n IN clauses WHERE n.k IN near AND n.concept IS NOT NULL AND NOT n.concept IN ['multi-sentence', 'and', 'or',
       'contrast-01', 'thank-01', 'excuse-01', 'greet-01', 'welcome-01', 'congratulate-01', 'name']] AS mains
UNWIND mains AS m
WITH dialogue, amr, ns, replies, asked, m, [a IN acts WHERE a.up = m.k] AS act, [n IN ns WHERE n.up = m.k] AS below
WITH dialogue, amr, replies, m, act, below, any(n IN asked WHERE n.k > m.k AND n.k <= m.last OR n.up = m.up) AS wh,
     any(n IN below WHERE n.role IN ['polarity', 'mode']) AS marked,
     [n IN below WHERE n.role = 'ARG0' | n.concept][0] AS who,
     any(n IN below WHERE n.role IN ['ARG0', 'ARG1'] AND n.concept = 'i') AS own,
     m.last - m.k < 11 AND NOT m.concept IN ['say-01', 'tell-01', 'ask-01', 'answer-01', 'reply-01', 'respond-01', 'add-01', 'exclaim-01',
       'repeat-01', 'remark-01', 'demand-01', 'object-01', 'have-condition-91', 'have-concession-91']
       AND NOT any(c IN below WHERE c.role IN ['time', 'condition', 'concession'] AND c.last > c.k + 1) AS plain
WHERE size(act) > 0
   OR NOT wh AND (m.frame AND (size(below) > 0 OR m.k > 0 AND NOT m.role STARTS WITH 'snt') OR any(c IN below WHERE c.role = 'domain'))
     AND (m.concept <> 'do-02' OR size(below) > 1)
     AND NOT (coalesce(who, 'i') = 'i' AND m.concept IN ['think-01', 'believe-01', 'know-01', 'hope-01', 'guess-01', 'suppose-01', 'mean-01',
       'wonder-01', 'wish-01', 'hello-01', 'sorry-01', 'appreciate-02', 'appreciate-03', 'afraid-01', 'fear-01', 'sure-02', 'like-02', 'prefer-01', 'see-01',
       'understand-01', 'promise-01', 'apologize-01', 'agree-01', 'bet-01', 'suggest-01', 'recommend-01', 'warn-01', 'swear-01', 'regret-01'])
UNWIND CASE
    WHEN size(act) > 0 THEN [a IN act | {amr: amr, k: a.k, op: 'drop', site: amr + '.' + toString(a.k), target: 'dialogue'}]
      + [a IN act WHERE a.value = 'imperative' AND NOT any(n IN below WHERE n.role = 'polarity') |
          {amr: amr, k: m.k, op: 'add', role: 'polarity', concept: 'amr-unknown', site: amr + '.' + toString(a.k)}]
    WHEN marked THEN []
    ELSE CASE WHEN plain AND NOT own THEN [{amr: amr, k: m.k, op: 'add', role: 'polarity', concept: 'amr-unknown', site: amr + '.' + toString(m.k) + '?',
        target: CASE WHEN NOT replies OR m.k > 1 THEN 'dialogue' END}] ELSE [] END
      + CASE WHEN who = 'you' AND NOT m.concept IN ['have-03', 'have-01', 'have-06', 'know-01', 'know-02', 'think-01', 'see-01', 'mean-01',
             'like-01', 'like-02', 'love-01', 'need-01', 'want-01', 'own-01', 'seem-01', 'look-02', 'hear-01', 'get-01', 'find-01'] THEN
          [{amr: amr, k: m.k, op: 'add', role: 'mode', value: 'imperative', site: amr + '.' + toString(m.k) + '!'}]
        ELSE [] END END
  + CASE WHEN size(act) > 0 OR m.k > 0 OR m.concept IN ['doubt-01', 'refuse-01', 'agree-01'] THEN []
      WHEN own THEN []
      ELSE [
        {amr: amr, k: 0, op: 'wrap', role: 'ARG1', concept: 'doubt-01', site: amr + '<doubt-01', target: 'dialogue'},
        {amr: amr, k: -1, op: 'add', role: 'ARG0', concept: 'i', site: amr + '<doubt-01', target: 'dialogue'}] END
  + CASE WHEN size(act) > 0 OR marked OR m.k > 0 OR m.concept IN ['doubt-01', 'refuse-01', 'agree-01'] THEN []
      ELSE CASE WHEN who = 'i' AND (m.concept ENDS WITH '-91' OR m.concept IN ['want-01', 'need-01', 'have-03', 'have-01', 'love-01', 'love-02',
          'like-01', 'like-02', 'know-01', 'hate-01', 'feel-01', 'see-01', 'hear-01', 'understand-01', 'remember-01', 'forget-01', 'own-01', 'lose-02',
          'receive-01', 'possible-01', 'obligate-01', 'recommend-01', 'cause-01', 'have-06', 'belong-01', 'mind-05', 'doubt-01',
          'seem-01', 'live-01', 'bear-02', 'find-01', 'recognize-02', 'notice-01', 'used-to', 'use-02', 'agree-01']) THEN []
        ELSE [
        {amr: amr, k: 0, op: 'wrap', role: 'ARG1', concept: CASE who WHEN 'i' THEN 'refuse-01' ELSE 'agree-01' END,
          site: amr + '<act', target: CASE who WHEN 'i' THEN null ELSE 'dialogue' END},
        {amr: amr, k: -1, op: 'add', role: 'ARG0', concept: 'i', site: amr + '<act'}] END END AS edit
RETURN dialogue, collect(edit) AS edits
