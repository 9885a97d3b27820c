-- The uploads of one person. The column never changes, so updates of a file do not touch the index.
CREATE INDEX CONCURRENTLY "files_of_user" ON "files"("account_id", "end_user") WHERE "end_user" IS NOT NULL;
