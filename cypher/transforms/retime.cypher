// retime: Moves a date, weekday, time of day or duration, or puts an untimed predicate on another day.
// category: C-time
// source: Gupta et al. (2021), error category C-time
//
// A date-entity gets another month, day, year, weekday or hour; today becomes yesterday, before after, an
// hour a week, six years eighteen. A main predicate without a time gets :time yesterday or :time tomorrow,
// each a site, unless there is a time, a condition or a negation in it already, or it is a state, a modal, an order, a question or a reified role. What the text puts in the
// past already gets no yesterday and what it puts in the future no tomorrow: that would not clash with anything. Nor
// does another date where no earlier turn says when: such sites are for negatives of whole dialogues.
UNWIND range(0, size($dialogues) - 1) AS i
UNWIND $dialogues[i].turns AS t
MATCH (n:AmrNode {amr: t.amr})
WITH i, t.turn AS turn, t.amr AS amr, collect(n) AS ns
WITH i, collect({turn: turn, amr: amr, ns: ns}) AS graphs
WITH i, graphs, [g IN graphs WHERE any(n IN g.ns WHERE n.role IN ['time', 'duration', 'frequency', 'weekday']
       OR n.concept IN ['date-entity', 'temporal-quantity']) | g.turn] AS dated
UNWIND graphs AS g
WITH $dialogues[i].id AS dialogue, g.amr AS amr, g.ns AS ns, CASE WHEN any(t IN dated WHERE t < g.turn) THEN null ELSE 'dialogue' END AS target
OPTIONAL MATCH (:Amr {id: amr})<-[:MEANS]-(u)
WITH dialogue, amr, ns, target, toLower(coalesce(max(u.text), '')) AS text
WITH dialogue, amr, ns, target,
     text =~ "(?s).*(\\b(will|shall|going to|gon na|wo|won't|let)\\b|['’]ll\\b).*" AS later,
     text =~ "(?s).*\\b(was|were|did|had|could|[a-z]{3,}ed|[a-z]{2,}ied|said|told|went|came|took|saw|made|got|gave|knew|thought|found|left|felt|became|began|kept|stood|sat|heard|ran|lost|won|met|sent|spoke|wrote|read|put|brought|bought|fell|grew|drew|let|drank|ate|held|cut|woke|slept|threw|forgot|understood|broke|hid|led|set|built|spent|paid|sold|taught|caught|rose|sang|shone|shook|swept|wore|drove|flew|meant|forbade|hurt|cost|hit|rode|froze|chose|stole|swam|bit|blew|hid|tore|shut|split|spread|swore|threw|woke|rang|sank|stuck|struck|swung|dealt|dug|fed|fought|fled|lent|lit|quit|sought|shot|slid|spun|stung|wept|been|done|gone)\\b.*" AS earlier,
     [n IN ns WHERE n.concept IN ['multi-sentence', 'and', 'or', 'contrast-01', 'cause-01', 'say-01', 'tell-01'] | n.k] AS open,
     [n IN ns WHERE n.role IN ['time', 'duration', 'frequency', 'condition', 'polarity', 'mode'] OR n.concept IN ['often', 'always', 'usual',
       'usually', 'sometimes', 'never', 'rare', 'frequent', 'seldom', 'just', 'already', 'still', 'now', 'yet', 'ever', 'every', 'then'] | n.up]
       + [n IN ns WHERE n.concept IN ['date-entity', 'temporal-quantity', 'rate-entity-91'] | n.k] AS placed,
     [n IN ns WHERE n.concept IN ['amr-unknown', 'truth-value']] AS asked,
     [n IN ns WHERE n.concept IN ['date-entity', 'temporal-quantity'] | n.k] AS dates,
     [n IN ns WHERE n.role IN ['time', 'duration', 'frequency'] | n.k] AS times
WITH dialogue, amr, ns, target, later, earlier, open, placed, asked,
     [n IN ns WHERE n.up IN dates AND n.value =~ '[1-9][0-9]{0,8}' AND n.role IN ['month', 'day', 'year', 'quant']
         AND NOT (n.role = 'quant' AND n.value = '1')
       OR n.up IN dates AND n.role = 'time' AND n.value =~ '"?[0-9]{1,2}:[0-9]{2}"?'] AS numbers,
     [n IN ns WHERE NOT (n.concept IN ['before', 'after'] AND any(c IN ns WHERE c.up = n.k AND c.role = 'quant'))
       AND (n.role IN ['time', 'duration', 'frequency', 'weekday', 'dayperiod', 'season', 'unit']
       OR n.up IN times AND n.role STARTS WITH 'op' AND n.concept <> 'now'
       OR n.role = 'mod' AND n.concept IN ['next', 'last', 'early', 'late', 'today'])] AS words
WITH dialogue, amr, ns, target, later, earlier, open, placed, asked,
     [n IN numbers | {amr: amr, k: n.k, op: 'set', value: CASE n.role
         WHEN 'month' THEN toString((toInteger(n.value) + 4) % 12 + 1)
         WHEN 'day' THEN toString((toInteger(n.value) + 9) % 28 + 1)
         WHEN 'year' THEN toString(toInteger(n.value) + CASE WHEN toInteger(n.value) > 20 THEN -20 ELSE 20 END)
         WHEN 'quant' THEN toString(toInteger(n.value) * 3)
         ELSE '"' + toString((toInteger(split(replace(n.value, '"', ''), ':')[0]) + 4) % 12 + 1) + ':'
           + split(replace(n.value, '"', ''), ':')[1] + '"' END}] AS moved,
     [n IN words | {amr: amr, k: n.k, op: 'set', concept: CASE n.concept
         WHEN 'today' THEN 'yesterday' WHEN 'tomorrow' THEN 'yesterday' WHEN 'yesterday' THEN 'tomorrow'
         WHEN 'tonight' THEN 'yesterday' WHEN 'now' THEN 'yesterday' WHEN 'soon' THEN 'yesterday'
         WHEN 'morning' THEN 'evening' WHEN 'afternoon' THEN 'morning' WHEN 'evening' THEN 'morning'
         WHEN 'night' THEN 'morning' WHEN 'noon' THEN 'midnight' WHEN 'midnight' THEN 'noon'
         WHEN 'before' THEN 'after' WHEN 'after' THEN 'before' WHEN 'early' THEN 'late' WHEN 'late' THEN 'early'
         WHEN 'next' THEN 'last' WHEN 'last' THEN 'next' WHEN 'often' THEN 'seldom' WHEN 'seldom' THEN 'often'
         WHEN 'spring' THEN 'autumn' WHEN 'summer' THEN 'winter' WHEN 'autumn' THEN 'spring'
         WHEN 'fall' THEN 'spring' WHEN 'winter' THEN 'summer' WHEN 'weekend' THEN 'weekday'
         WHEN 'monday' THEN 'thursday' WHEN 'tuesday' THEN 'saturday' WHEN 'wednesday' THEN 'sunday'
         WHEN 'thursday' THEN 'monday' WHEN 'friday' THEN 'tuesday' WHEN 'saturday' THEN 'wednesday'
         WHEN 'sunday' THEN 'friday' WHEN 'second' THEN 'hour' WHEN 'minute' THEN 'day' WHEN 'hour' THEN 'week'
         WHEN 'day' THEN 'year' WHEN 'week' THEN 'day' WHEN 'month' THEN 'day' WHEN 'year' THEN 'week' END}] AS said,
     [n IN ns WHERE n.k = 0 OR n.up IN open AND (n.role = 'ARG1' OR n.role STARTS WITH 'snt' OR n.role STARTS WITH 'op')
       OR n.role = 'ARG2' AND n.up IN open AND n.frame] AS clauses
WITH dialogue, amr, target, later, earlier, asked, placed, clauses, moved + [e IN said WHERE e.concept IS NOT NULL] AS edits,
     [n IN clauses WHERE n.k = 0 OR n.up = 0 | n.k] AS near
WITH dialogue, amr, target, later, earlier, asked, placed, clauses, edits, near + [n IN clauses WHERE n.up IN near AND n.up > 0 | n.k] AS near
WITH dialogue, amr, target, later, earlier, edits, [n IN clauses WHERE n.frame AND n.k IN near AND n.last > n.k AND NOT any(k IN placed WHERE k >= n.k AND k <= n.last)
       AND NOT n.concept ENDS WITH '-91' AND NOT n.concept IN ['contrast-01', 'cause-01', 'possible-01', 'obligate-01',
         'recommend-01', 'likely-01', 'permit-01', 'thank-01', 'excuse-01', 'welcome-01', 'greet-01', 'like-01', 'like-02',
         'love-01', 'hate-01', 'know-01', 'believe-01', 'think-01', 'opine-01', 'mean-01', 'resemble-01', 'seem-01',
         'own-01', 'cost-01', 'have-03', 'need-01', 'want-01', 'prefer-01', 'hope-01', 'sound-01', 'belong-01',
         'equal-01', 'good-02', 'bad-07', 'hello-01', 'see-01', 'hear-01', 'please-01', 'adore-01', 'bear-02', 'wonder-01', 'guess-01',
         'suppose-01', 'wish-01', 'agree-01', 'understand-01', 'mind-05', 'care-01', 'matter-01', 'look-02', 'sorry-01', 'fear-01',
         'afraid-01', 'age-01', 'call-01', 'name-01', 'appreciate-02', 'trust-02', 'contain-01', 'include-01', 'consist-01', 'depend-01',
         'deserve-01', 'realize-01', 'sure-02', 'admire-01', 'dislike-01', 'exist-01', 'lack-01', 'weigh-01', 'fit-06', 'awe-01', 'amaze-01', 'interest-01', 'surprise-01', 'true-01', 'appreciate-03',
         'do-02', 'possess-01', 'think-02']
       AND NOT any(a IN asked WHERE a.k > n.k AND a.k <= n.last OR a.up = n.up) | n.k] AS untimed
UNWIND [e IN edits | {amr: e.amr, k: e.k, op: e.op, value: e.value, concept: e.concept, target: target}]
  + [k IN untimed WHERE NOT earlier |
      {amr: amr, k: k, op: 'add', role: 'time', concept: 'yesterday', site: amr + '.' + toString(k) + '<yesterday'}]
  + [k IN untimed WHERE NOT later |
      {amr: amr, k: k, op: 'add', role: 'time', concept: 'tomorrow', site: amr + '.' + toString(k) + '<tomorrow'}]
  AS edit
RETURN dialogue, collect(edit) AS edits
