-- The runs below the first run of a tree. The column never changes, so updates of a run do not touch the index.
CREATE INDEX CONCURRENTLY "runs_of_tree" ON "runs"("root_run_id") WHERE "root_run_id" IS NOT NULL;
