SET lock_timeout = '5s';

-- The next due times of a schedule, computed when it is written or fired instead of when it is read. Null, as in rows of
-- before, is not known.
ALTER TABLE "triggers" ADD COLUMN "next_fires" TIMESTAMPTZ(3)[];

RESET lock_timeout;
