-- Who holds the session lock of its name. Locks end with the server, so a row speaks of one life of it: a crash empties
-- the table, which is unlogged for that reason, and a restart is told by "postgres_since".
CREATE UNLOGGED TABLE "presences" (
    "owner" TEXT NOT NULL,
    "postgres_since" TIMESTAMPTZ(6) NOT NULL DEFAULT pg_postmaster_start_time(),

    CONSTRAINT "presences_pkey" PRIMARY KEY ("owner")
);
