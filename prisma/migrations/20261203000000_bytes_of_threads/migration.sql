-- How many bytes the contents of a thread's messages have, for its cap. What was there before counts as nothing: to add it up
-- would read all messages, and services of the version before do not count what they add either.
SET lock_timeout = '5s';
ALTER TABLE "threads" ADD COLUMN "message_bytes" BIGINT NOT NULL DEFAULT 0;
RESET lock_timeout;
