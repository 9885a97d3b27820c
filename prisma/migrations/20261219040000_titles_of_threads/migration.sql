SET lock_timeout = '5s';

-- Null: it has no name of its own.
ALTER TABLE "threads" ADD COLUMN "title" TEXT;

RESET lock_timeout;
