// Return the topics of the shift graph that the user may have meant by a misspelled or inflected text. These are the
// lemmas of the text, topics with the same first letters, and topics of about the same length.
// $text: text that the user gave
// $prefix: first letters of the text
// $lemmas: possible lemmas of the text
// Columns: topic
MATCH (t:Term)
WHERE (
    // The user gave a different form of the topic: "movies" for "movie".
    t.text IN $lemmas
    // The user mistyped the end of the topic: "restarant" for "restaurant".
    OR t.text STARTS WITH $prefix
    // The user mistyped a letter anywhere in the topic: "cofee" for "coffee". Return all topics of similar length. The
    // caller compares these topics with $text letter by letter.
    OR abs(size(t.text) - size($text)) <= 2)
  AND EXISTS { MATCH (t)-[:SHIFTS_TO]-(:Term) }
RETURN t.text AS topic
