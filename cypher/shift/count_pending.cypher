// Count the selected dialogues, and the selected dialogues that are not in the shift graph yet.
// $corpora, $splits: lists of names; an empty list means all
// Columns: dialogues (number of selected dialogues), pending (number of selected dialogues that are not in the shift
//          graph yet)
MATCH (d:Dialogue)
WHERE (size($corpora) = 0 OR d.corpus IN $corpora)
  AND (size($splits) = 0 OR d.split IN $splits)
RETURN count(d) AS dialogues, sum(CASE WHEN d.shifts IS NULL THEN 1 ELSE 0 END) AS pending
