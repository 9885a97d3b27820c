SET lock_timeout = '5s';

-- A stop may name an error, with which the run then fails.
ALTER TABLE "runs" ADD COLUMN "stop_error" TEXT;

RESET lock_timeout;
