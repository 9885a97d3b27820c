-- For what an account has spent of its budget. Built beside the writers, which CONCURRENTLY wants alone in its file.
CREATE INDEX CONCURRENTLY "usage_entries_account_id_created_at_idx" ON "usage_entries"("account_id", "created_at");
