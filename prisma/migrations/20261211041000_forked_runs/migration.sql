SET lock_timeout = '5s';

-- The run whose log a run begins with, the last fact that they share, and the hash chain of the origin up to it.
ALTER TABLE "runs" ADD COLUMN "forked_from" JSON;

RESET lock_timeout;
