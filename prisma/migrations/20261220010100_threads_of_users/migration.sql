-- The threads of one person. The column never changes, so updates of a thread do not touch the index.
CREATE INDEX CONCURRENTLY "threads_of_user" ON "threads"("account_id", "end_user", "id") WHERE "end_user" IS NOT NULL;
