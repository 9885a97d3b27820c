-- The lines of accounts. It names no column that a claim or an append changes, so that neither touches it.
CREATE INDEX CONCURRENTLY "runs_in_line" ON "runs"("account_id", "due_since") WHERE "holds_thread" AND "waiting" IS NULL;
