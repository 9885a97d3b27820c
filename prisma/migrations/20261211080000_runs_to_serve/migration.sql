SET lock_timeout = '5s';

-- How many runs the agent workers have to serve: those that are due and those that a worker holds. An autoscaler reads it
-- with a role that may read nothing else, and knows no columns.
CREATE VIEW "runs_to_serve" AS
    SELECT count(*)::int AS "runs" FROM "runs" WHERE "holds_thread" AND "waiting" IS NULL AND "queue" = 'runs';

RESET lock_timeout;
