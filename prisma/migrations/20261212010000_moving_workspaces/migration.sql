SET lock_timeout = '5s';

-- The executor that restores the workspace of one that is lost, until it hosts it. Null: nothing is being moved.
ALTER TABLE "sandboxes" ADD COLUMN "moving_to" TEXT;

RESET lock_timeout;
