SET lock_timeout = '5s';

-- Null: the session has not been used since uses are noted.
ALTER TABLE "sessions" ADD COLUMN "last_used_at" TIMESTAMPTZ(3);

RESET lock_timeout;
