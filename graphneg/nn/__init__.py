"""Load, train and run neural models.

Decoders, generators, rankers and scorers use these modules:

- `models` finds and loads models by folder or name. `language_models`, `encoders`, `embedders` and `vectors`
  run models: they score texts, generate tokens, and convert texts or words into vectors.
- `generation` generates texts with a transformers model. `writers` generates texts for prompts, with a local
  model or on a server, so that generators need not distinguish between the two. `backends` converts AMR
  graphs into text.
- `training` trains a model and resumes a training run. `fine_tuning` trains a language model on pairs of
  texts.
- `served` and `serving` generate texts on a model server. `answers` caches the answers of a server.
- `batching` forms batches of items of similar length.

`callbacks`, `endpoint` and `server_requests` are internal: only the other modules of this package import
them.
"""
