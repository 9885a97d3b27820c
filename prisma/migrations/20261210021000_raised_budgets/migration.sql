SET lock_timeout = '5s';

-- The epoch of the claim during which the budget was last raised: its holder does not know the new budget, so the run is not
-- parked or ended by it for the old one.
ALTER TABLE "runs" ADD COLUMN "raised_in_epoch" INTEGER;

RESET lock_timeout;
