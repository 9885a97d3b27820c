ALTER TABLE "runs" ADD COLUMN "past_through" INTEGER;

UPDATE "runs" SET "past_through" = COALESCE(
  (SELECT MIN("seq") FROM "messages" WHERE "messages"."run_id" = "runs"."id"),
  (SELECT "last_message_seq" FROM "threads" WHERE "threads"."id" = "runs"."thread_id")
) WHERE "holds_thread";
