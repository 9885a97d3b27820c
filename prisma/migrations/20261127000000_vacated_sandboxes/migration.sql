ALTER TABLE "sandboxes" ADD COLUMN "vacate_at" TIMESTAMPTZ(3);

-- What the Prisma schema cannot say.
CREATE INDEX "sandboxes_to_vacate" ON "sandboxes"("vacate_at") WHERE "vacate_at" IS NOT NULL;

-- Nobody was told of the threads that are deleted already.
UPDATE "sandboxes" SET "vacate_at" = CURRENT_TIMESTAMP
FROM "threads" WHERE "threads"."id" = "thread_id" AND "threads"."deleted_at" IS NOT NULL;
