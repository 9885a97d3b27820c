SET lock_timeout = '5s';

-- The trace that the spans of a run are in; null for a run that is not traced.
ALTER TABLE "runs" ADD COLUMN "trace_id" TEXT;

RESET lock_timeout;
