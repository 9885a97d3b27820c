-- Sums of tokens past 2^31. Doubles count by ones up to 2^53, which is as far as JSON's numbers do; to drivers they are
-- numbers, so that services of an earlier version read and write them as before (of a bigint they would get a text).
--
-- The table is written anew under a lock that keeps everybody out: some seconds for each million runs. Who does not get
-- the lock in time gives up, and the migration can be applied again.
SET lock_timeout = '5s';

ALTER TABLE "runs"
  ALTER COLUMN "input_tokens" TYPE DOUBLE PRECISION,
  ALTER COLUMN "cached_tokens" TYPE DOUBLE PRECISION,
  ALTER COLUMN "output_tokens" TYPE DOUBLE PRECISION;
RESET lock_timeout;
