SET lock_timeout = '5s';

-- The message that the input of a queued run replaces. Its turn is superseded when the run is promoted.
ALTER TABLE "runs" ADD COLUMN "edits_message_id" TEXT;

RESET lock_timeout;
