// On the OPPOSITE edges between words, write the kinds of things for which the two words are opposites.
// $opposites: maps of start and end (texts of terms) and modified_kinds (null for all kinds of things)
// Columns: opposites (number of edges changed)
UNWIND $opposites AS row
MATCH (:Term {text: row.start})-[o:OPPOSITE]->(:Term {text: row.end})
SET o.modified_kinds = row.modified_kinds
RETURN count(o) AS opposites
