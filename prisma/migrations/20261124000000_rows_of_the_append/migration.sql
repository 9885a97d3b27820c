-- What was written and never read. The log holds the iterations, and a usage entry is the model call.
DROP TABLE "iterations";

ALTER TABLE "usage_entries"
    ADD COLUMN "iteration" INTEGER,
    ADD COLUMN "finish_reason" TEXT,
    ADD COLUMN "duration_ms" DOUBLE PRECISION,
    ADD COLUMN "first_token_ms" DOUBLE PRECISION;

UPDATE "usage_entries" SET
    "iteration" = "call"."iteration",
    "finish_reason" = "call"."finish_reason",
    "duration_ms" = "call"."duration_ms",
    "first_token_ms" = "call"."first_token_ms"
FROM "model_calls" AS "call" WHERE "call"."id" = "model_call_id";

ALTER TABLE "usage_entries"
    ALTER COLUMN "iteration" SET NOT NULL,
    ALTER COLUMN "finish_reason" SET NOT NULL,
    ALTER COLUMN "duration_ms" SET NOT NULL,
    DROP CONSTRAINT "usage_entries_model_call_id_fkey";

DROP TABLE "model_calls";

-- No query reads it, and every model call paid for it.
DROP INDEX "usage_entries_account_id_created_at_idx";

-- Only the append and the transactions that lock a thread fill these tables, and they hold the rows that the keys would
-- look up, once per row, again. Nothing deletes a run or a thread.
ALTER TABLE "run_events" DROP CONSTRAINT "run_events_run_id_fkey";
ALTER TABLE "messages" DROP CONSTRAINT "messages_thread_id_fkey";
ALTER TABLE "tool_calls" DROP CONSTRAINT "tool_calls_run_id_fkey";
ALTER TABLE "usage_entries" DROP CONSTRAINT "usage_entries_account_id_fkey";
