-- An account's runs of one agent, newest first. The column never changes, so updates of a run do not touch the index.
CREATE INDEX CONCURRENTLY "runs_of_agent" ON "runs"("account_id", "agent_id", "id") WHERE "agent_id" IS NOT NULL;
