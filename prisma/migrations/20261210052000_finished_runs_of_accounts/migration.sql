-- Counts an account's finished runs without reading their rows. A run enters it once, when it ends.
CREATE INDEX CONCURRENTLY "runs_finished_of_account" ON "runs"("account_id", "status") INCLUDE ("thread_id", "agent_id") WHERE "finished_at" IS NOT NULL;
