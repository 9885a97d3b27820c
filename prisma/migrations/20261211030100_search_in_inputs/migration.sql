-- Words of inputs, and the account as one more: a search reads the rows of its own account only. `simple` is for any language.
CREATE INDEX CONCURRENTLY "run_inputs_words" ON "run_inputs" USING gin ((to_tsvector('simple', "text") || array_to_tsvector(ARRAY["account_id"])));
