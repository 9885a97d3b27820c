SET lock_timeout = '5s';

-- Not in a version: an agent is found by them, and no run depends on them.
ALTER TABLE "agents" ADD COLUMN "tags" TEXT[] NOT NULL DEFAULT '{}';

RESET lock_timeout;
