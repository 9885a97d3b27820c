-- The runs of one person. The column never changes, so updates of a run do not touch the index.
CREATE INDEX CONCURRENTLY "runs_of_user" ON "runs"("account_id", "end_user", "id") WHERE "end_user" IS NOT NULL;
