SET lock_timeout = '5s';

-- Where a model call was made, so that usage can be read by thread and by agent after its run was deleted. Null in entries
-- that were written before; they are read through their run.
ALTER TABLE "usage_entries" ADD COLUMN "thread_id" TEXT, ADD COLUMN "agent_id" TEXT;

RESET lock_timeout;
