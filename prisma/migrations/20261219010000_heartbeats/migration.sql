SET lock_timeout = '5s';

-- Unlogged: it says who lives now, and a Postgres that was killed must forget it.
CREATE UNLOGGED TABLE "heartbeats" (
    "owner" TEXT NOT NULL,
    "postgres_since" TIMESTAMPTZ(6) NOT NULL DEFAULT pg_postmaster_start_time(),
    "beat_at" TIMESTAMPTZ(6) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "heartbeats_pkey" PRIMARY KEY ("owner")
);

RESET lock_timeout;
