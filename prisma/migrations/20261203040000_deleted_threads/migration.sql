CREATE INDEX CONCURRENTLY IF NOT EXISTS "threads_deleted" ON "threads"("deleted_at") WHERE "deleted_at" IS NOT NULL;
