SET lock_timeout = '5s';

-- The run and the call that started it, and the first run of the tree with its depth below that one. No foreign keys: a run
-- outlives the deletion of the thread of its parent.
ALTER TABLE "runs"
    ADD COLUMN "parent_run_id" TEXT,
    ADD COLUMN "parent_call_id" TEXT,
    ADD COLUMN "root_run_id" TEXT,
    ADD COLUMN "tree_depth" INTEGER;

-- contract: no service reads a constraint, and what the version before writes satisfies the new one.
-- A run that waits for its child runs has a status of its own.
ALTER TABLE "runs"
    ADD CONSTRAINT "runs_parked_for_something" CHECK (("status" IN ('waiting_input', 'waiting_budget', 'waiting_child')) = ("waiting" IS NOT NULL)) NOT VALID,
    DROP CONSTRAINT "runs_wait_for_something";

RESET lock_timeout;
