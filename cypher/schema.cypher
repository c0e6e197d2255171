// Define the schema: a unique key for each label that needs one, and the indexes that speed up reading.
// The schema is applied when a store is opened for the first time. Each statement can be run again without an error.
// $version: version of the schema. The last statement stores the version and the other parameters.
// $facts: text that identifies the code and the lexicon with which the properties of graph nodes are computed
// $graphneg: version of graphneg

CREATE CONSTRAINT graphneg_schema IF NOT EXISTS FOR (n:GraphnegSchema) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphneg_dialogue IF NOT EXISTS FOR (n:Dialogue) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphneg_utterance IF NOT EXISTS FOR (n:Utterance) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphneg_response IF NOT EXISTS FOR (n:Response) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphneg_amr IF NOT EXISTS FOR (n:Amr) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphneg_term IF NOT EXISTS FOR (n:Term) REQUIRE n.text IS UNIQUE;
CREATE CONSTRAINT graphneg_frame IF NOT EXISTS FOR (n:Frame) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphneg_parse IF NOT EXISTS FOR (n:Parse) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphneg_sentence IF NOT EXISTS FOR (n:Sentence) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphneg_shift_graph IF NOT EXISTS FOR (n:ShiftGraph) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphneg_variant IF NOT EXISTS FOR (n:Variant) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphneg_lexicon IF NOT EXISTS FOR (n:LexiconEntry) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT graphneg_edit IF NOT EXISTS FOR (n:Edit) REQUIRE n.id IS UNIQUE;

CREATE INDEX graphneg_amr_node_of IF NOT EXISTS FOR (n:AmrNode) ON (n.amr);
CREATE INDEX graphneg_utterance_key IF NOT EXISTS FOR (n:Utterance) ON (n.key);
CREATE INDEX graphneg_dialogue_order IF NOT EXISTS FOR (n:Dialogue) ON (n.order);
CREATE INDEX graphneg_dialogue_corpus IF NOT EXISTS FOR (n:Dialogue) ON (n.corpus);
CREATE INDEX graphneg_clause_dialogue IF NOT EXISTS FOR (n:Clause) ON (n.dialogue);
CREATE INDEX graphneg_entity_dialogue IF NOT EXISTS FOR (n:Entity) ON (n.dialogue);
CREATE INDEX graphneg_frame_lemma IF NOT EXISTS FOR (n:Frame) ON (n.lemma);

MERGE (s:GraphnegSchema {id: 'graphneg'}) ON CREATE SET s.version = $version, s.facts = $facts, s.graphneg = $graphneg;
