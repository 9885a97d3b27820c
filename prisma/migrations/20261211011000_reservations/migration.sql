SET lock_timeout = '5s';

-- What is reserved for the model call of a run, by the holder of an epoch. Without foreign keys: the row lives as long as a
-- call, and what became of the run is checked by the sweep.
-- CreateTable
CREATE TABLE "reservations" (
    "run_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "usd" DECIMAL(24,12) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "reservations_pkey" PRIMARY KEY ("run_id")
);

RESET lock_timeout;
