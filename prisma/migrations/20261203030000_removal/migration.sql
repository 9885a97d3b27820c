SET lock_timeout = '5s';

-- "purged_at": the thread's contents are gone; the row stays until its workspace is.
ALTER TABLE "threads" ADD COLUMN "purged_at" TIMESTAMPTZ(3);
ALTER TABLE "accounts" ADD COLUMN "removed_at" TIMESTAMPTZ(3);

RESET lock_timeout;
