-- AlterTable
ALTER TABLE "runs"
    ADD COLUMN "queue" TEXT NOT NULL DEFAULT 'runs',
    ADD COLUMN "queue_since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    ADD COLUMN "fruitless_claims" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "events_trimmed_through" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "events_trimmed_hash" TEXT NOT NULL DEFAULT '';

-- From here on: what the Prisma schema cannot say.

ALTER TABLE "runs"
    ADD CONSTRAINT "runs_queue_is_known" CHECK ("queue" IN ('runs', 'compactions')),
    ADD CONSTRAINT "runs_trimmed_log_has_its_hash" CHECK (("events_trimmed_through" = 0) = ("events_trimmed_hash" = ''));

-- What the retention round looks at. No index names "last_seq", so that an append touches no index.
CREATE INDEX "runs_to_trim" ON "runs"("finished_at") WHERE "finished_at" IS NOT NULL AND "events_trimmed_through" = 0;
