SET lock_timeout = '5s';

-- contract: no service reads a constraint, and what the version before writes satisfies the new one.
-- A run that waits for results of its caller's tools has a status of its own.
ALTER TABLE "runs"
    ADD CONSTRAINT "runs_wait_while_parked" CHECK (("status" IN ('waiting_input', 'waiting_budget', 'waiting_child', 'waiting_tool')) = ("waiting" IS NOT NULL)) NOT VALID,
    DROP CONSTRAINT "runs_parked_for_something";

RESET lock_timeout;
