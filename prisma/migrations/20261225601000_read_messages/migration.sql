SET lock_timeout = '5s';

-- Whether the active run has read the message of a queued run. Until now this followed from its stop reason.
ALTER TABLE "runs" ADD COLUMN "message_read" BOOLEAN NOT NULL DEFAULT false;

RESET lock_timeout;
