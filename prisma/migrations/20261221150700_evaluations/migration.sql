SET lock_timeout = '5s';

-- What evaluations of agents have found, each under its name: a summary, and the result of every task.
CREATE TABLE "evaluations" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "summary" JSON NOT NULL,
    "results" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "evaluations_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "evaluations_account_id_id_idx" ON "evaluations"("account_id", "id");
CREATE UNIQUE INDEX "evaluations_account_id_name_key" ON "evaluations"("account_id", "name");

ALTER TABLE "evaluations" ADD CONSTRAINT "evaluations_account_id_fkey"
    FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

RESET lock_timeout;
