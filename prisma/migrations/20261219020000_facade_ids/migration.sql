SET lock_timeout = '5s';

-- The ids that clients of façades choose, with what they stand for here. `thread_id` has no foreign key: its rows are deleted
-- when the contents of the thread are, which is before its own row.
CREATE TABLE "facade_ids" (
    "account_id" TEXT NOT NULL,
    "facade" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "outer_id" TEXT NOT NULL,
    "thread_id" TEXT NOT NULL,
    "inner_id" TEXT NOT NULL,
    "data" JSON NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "facade_ids_pkey" PRIMARY KEY ("account_id", "facade", "kind", "outer_id")
);

CREATE INDEX "facade_ids_thread_id_idx" ON "facade_ids"("thread_id");

ALTER TABLE "facade_ids" ADD CONSTRAINT "facade_ids_account_id_fkey"
    FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

RESET lock_timeout;
