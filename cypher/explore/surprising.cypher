// surprising: Shifts ranked by pointwise mutual information (PMI), which is high for shifts that are more frequent than
//   expected by chance.
// $least (2): minimum number of post-reply pairs with a shift
// $limit (20): maximum number of rows; the highest PMI comes first
// Columns: focus (topic that replies take up), perspective (topic to which they shift), count (number of post-reply
//          pairs), pmi (in bits: log2 of a quotient, the probability of the shift divided by the product of the
//          probabilities of its focus and its perspective)
MATCH (:Term)-[s:SHIFTS_TO]->(:Term)
WITH sum(s.count) AS total
MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term)
WHERE s.count >= $least
WITH total, f, collect({perspective: p, count: s.count}) AS shifts
MATCH (f)-[any:SHIFTS_TO]->(:Term)
WITH total, f.text AS focus, shifts, sum(any.count) AS outgoing
UNWIND shifts AS shift
WITH total, shift.perspective AS p, collect({focus: focus, outgoing: outgoing, count: shift.count}) AS shifts
MATCH (p)<-[any:SHIFTS_TO]-(:Term)
WITH total, p.text AS perspective, shifts, sum(any.count) AS incoming
UNWIND shifts AS shift
WITH shift.focus AS focus, perspective, shift.count AS count,
     // PMI = log2(p(focus, perspective) / (p(focus) * p(perspective))), where probabilities are relative frequencies.
     round(log(1.0 * shift.count * total / (shift.outgoing * incoming)) / log(2.0), 3) AS pmi
ORDER BY pmi DESC, count DESC, focus, perspective
LIMIT $limit
RETURN focus, perspective, count, pmi
