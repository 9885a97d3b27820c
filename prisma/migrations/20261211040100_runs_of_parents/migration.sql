-- The child runs of a run, oldest first. The columns never change, so updates of a run do not touch the index.
CREATE INDEX CONCURRENTLY "runs_of_parent" ON "runs"("parent_run_id", "id") WHERE "parent_run_id" IS NOT NULL;
