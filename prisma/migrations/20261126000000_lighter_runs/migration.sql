-- What the Prisma schema cannot say.

-- The same rows as before, said without "status": a claim changes it, and now touches no index.
DROP INDEX "runs_due";
CREATE INDEX "runs_due" ON "runs"("id") WHERE "holds_thread" AND "waiting" IS NULL;
DROP INDEX "runs_behind_another";
CREATE INDEX "runs_behind_another" ON "runs"("thread_id", "id") WHERE NOT "holds_thread" AND "finished_at" IS NULL;

-- Postgres reads the text of each check anew for every statement. These say of single values what the types of the only
-- library that writes them say; those that hold several columns together stay.
ALTER TABLE "runs" DROP CONSTRAINT "runs_status_is_known", DROP CONSTRAINT "runs_queue_is_known";
ALTER TABLE "run_events" DROP CONSTRAINT "run_events_seq_starts_at_1";
ALTER TABLE "messages" DROP CONSTRAINT "messages_seq_starts_at_1";
ALTER TABLE "tool_calls" DROP CONSTRAINT "tool_calls_status_is_known", DROP CONSTRAINT "tool_calls_effect_class_is_known";
