// What parsing adds to the schema: one key for each text that a parser has parsed.
// Applied whenever parsing begins; it may run again.

CREATE CONSTRAINT graphneg_parse IF NOT EXISTS FOR (n:Parse) REQUIRE n.id IS UNIQUE;
