SET lock_timeout = '5s';

-- The active run that the input of a queued run is addressed to.
ALTER TABLE "runs" ADD COLUMN "steers" TEXT;

RESET lock_timeout;
