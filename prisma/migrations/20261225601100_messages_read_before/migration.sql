SET lock_timeout = '5s';

-- Apart from the migration that adds the column, so that nothing waits for the table while this reads all of it.
UPDATE "runs" SET "message_read" = true WHERE "steers" IS NOT NULL AND "stop_reason" = 'read by ' || "steers";

RESET lock_timeout;
