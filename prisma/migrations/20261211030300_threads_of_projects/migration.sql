-- The threads of a project, newest first.
CREATE INDEX CONCURRENTLY "threads_of_project" ON "threads"("project_id", "id") WHERE "project_id" IS NOT NULL;
