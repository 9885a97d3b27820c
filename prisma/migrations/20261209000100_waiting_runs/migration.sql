-- Runs that wait for a person: the inbox, open approvals and those that expire. An append that parks no run does not touch it.
CREATE INDEX CONCURRENTLY "runs_waiting" ON "runs"("account_id", "id") WHERE "waiting" IS NOT NULL;
