-- An account's runs of one project, newest first. The column never changes, so updates of a run do not touch the index.
CREATE INDEX CONCURRENTLY "runs_of_project" ON "runs"("account_id", "project_id", "id") WHERE "project_id" IS NOT NULL;
