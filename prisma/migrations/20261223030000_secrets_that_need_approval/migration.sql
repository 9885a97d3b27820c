SET lock_timeout = '5s';

-- A constant default does not rewrite the table. An older worker does not read it, and opens the secret unasked.
ALTER TABLE "secrets" ADD COLUMN "approval" TEXT NOT NULL DEFAULT 'none';

CREATE TABLE "secret_approvals" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "secret_id" TEXT NOT NULL,
    "call_id" TEXT,
    "name" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "outcome" TEXT,
    "decided_by" TEXT,
    "decided_at" TIMESTAMPTZ(3),
    "reason" TEXT,

    CONSTRAINT "secret_approvals_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "secret_approvals_run_id_secret_id_key" ON "secret_approvals"("run_id", "secret_id");
CREATE INDEX "secret_approvals_secret_id_idx" ON "secret_approvals"("secret_id");

-- Of the few that wait: the inbox of an account, and those whose time is over.
CREATE INDEX "secret_approvals_open" ON "secret_approvals"("account_id", "id") WHERE "outcome" IS NULL;

ALTER TABLE "secret_approvals" ADD CONSTRAINT "secret_approvals_run_id_fkey"
    FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "secret_approvals" ADD CONSTRAINT "secret_approvals_secret_id_fkey"
    FOREIGN KEY ("secret_id") REFERENCES "secrets"("id") ON DELETE CASCADE ON UPDATE CASCADE;
