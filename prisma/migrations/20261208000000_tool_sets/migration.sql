SET lock_timeout = '5s';

-- The tools of runs, so that a run keeps the tools that it started with. Shared sets, which hold built-in tools only, have no account.
CREATE TABLE "tool_sets" (
    "hash" TEXT NOT NULL,
    "account_id" TEXT,
    "snapshot" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tool_sets_pkey" PRIMARY KEY ("hash")
);

-- CreateIndex
CREATE INDEX "tool_sets_account_id_idx" ON "tool_sets"("account_id");

-- AddForeignKey
ALTER TABLE "tool_sets" ADD CONSTRAINT "tool_sets_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- No foreign key and no index: every run that starts would lock the row of its set, and its first append would touch all
-- indexes of "runs".
ALTER TABLE "runs" ADD COLUMN "tool_set" TEXT;

RESET lock_timeout;
