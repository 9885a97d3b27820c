SET lock_timeout = '5s';

-- When a person or a client changed it last. Without a default, so that no row is rewritten.
ALTER TABLE "threads" ADD COLUMN "updated_at" TIMESTAMPTZ(3);
