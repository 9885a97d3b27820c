-- Where a run stands in its account's line. Services of the version before do not write it: what they hand over keeps its
-- place in front.
SET lock_timeout = '5s';
ALTER TABLE "runs" ADD COLUMN "due_since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
RESET lock_timeout;
