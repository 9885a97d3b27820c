-- What the quota of active runs counts. An append touches it no more than the other indexes that name "finished_at".
CREATE INDEX CONCURRENTLY "runs_active_of_account" ON "runs"("account_id") WHERE "finished_at" IS NULL;
