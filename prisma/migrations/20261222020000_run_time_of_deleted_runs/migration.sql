SET lock_timeout = '5s';

-- How long deleted runs have run, by account and day (UTC): a deletion gives back no run minutes.
CREATE TABLE "deleted_run_time" (
    "account_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "seconds" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "deleted_run_time_pkey" PRIMARY KEY ("account_id", "day"),
    CONSTRAINT "deleted_run_time_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

RESET lock_timeout;
