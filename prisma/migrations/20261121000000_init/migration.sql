-- CreateTable
CREATE TABLE "accounts" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "hint" TEXT NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "threads" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "metadata" JSON NOT NULL DEFAULT '{}',
    "last_message_seq" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "threads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "messages" (
    "id" TEXT NOT NULL,
    "thread_id" TEXT NOT NULL,
    "run_id" TEXT,
    "iteration" INTEGER,
    "seq" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "is_llm_message" BOOLEAN NOT NULL,
    "content" JSON NOT NULL,
    "metadata" JSON NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "runs" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "thread_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "finish_reason" TEXT,
    "error" JSON,
    "waiting" JSON,
    "iteration" INTEGER NOT NULL DEFAULT 0,
    "last_seq" INTEGER NOT NULL DEFAULT 0,
    "profile" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "settings" JSON NOT NULL,
    "metadata" JSON NOT NULL DEFAULT '{}',
    "queued_input" JSON,
    "holds_thread" BOOLEAN NOT NULL,
    "epoch" INTEGER NOT NULL DEFAULT 0,
    "lease_owner" TEXT,
    "lease_expires_at" TIMESTAMPTZ(3),
    "activation" INTEGER NOT NULL DEFAULT 0,
    "activated_at" TIMESTAMPTZ(3),
    "stop_requested_at" TIMESTAMPTZ(3),
    "stop_reason" TEXT,
    "input_tokens" INTEGER NOT NULL DEFAULT 0,
    "cached_tokens" INTEGER NOT NULL DEFAULT 0,
    "output_tokens" INTEGER NOT NULL DEFAULT 0,
    "cost_usd" DOUBLE PRECISION DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "iterations" (
    "run_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "message_id" TEXT NOT NULL,
    "finish_reason" TEXT,
    "restarts" INTEGER NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "iterations_pkey" PRIMARY KEY ("run_id","number")
);

-- CreateTable
CREATE TABLE "model_calls" (
    "id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "iteration" INTEGER NOT NULL,
    "model" TEXT NOT NULL,
    "finish_reason" TEXT NOT NULL,
    "duration_ms" DOUBLE PRECISION NOT NULL,
    "first_token_ms" DOUBLE PRECISION,
    "completed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "model_calls_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "usage_entries" (
    "model_call_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "input_tokens" INTEGER NOT NULL,
    "cached_tokens" INTEGER NOT NULL,
    "output_tokens" INTEGER NOT NULL,
    "cost_usd" DOUBLE PRECISION,
    "estimated" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_entries_pkey" PRIMARY KEY ("model_call_id")
);

-- CreateTable
CREATE TABLE "tool_calls" (
    "id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "iteration" INTEGER NOT NULL,
    "index" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "arguments" JSON NOT NULL,
    "dialect" TEXT NOT NULL,
    "effect_class" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "result" JSON,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "message_id" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "tool_calls_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run_events" (
    "run_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "iteration" INTEGER NOT NULL,
    "epoch" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "data" JSON NOT NULL,

    CONSTRAINT "run_events_pkey" PRIMARY KEY ("run_id","seq")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "queue" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "payload" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "taken_until" TIMESTAMPTZ(3),

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sandboxes" (
    "id" TEXT NOT NULL,
    "thread_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL DEFAULT 'local',
    "executor_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sandboxes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "account_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "status" INTEGER,
    "response" JSON,
    "location" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("account_id","key")
);

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_account_id_id_idx" ON "api_keys"("account_id", "id");

-- CreateIndex
CREATE INDEX "threads_account_id_id_idx" ON "threads"("account_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "messages_thread_id_seq_key" ON "messages"("thread_id", "seq");

-- CreateIndex
CREATE INDEX "runs_account_id_id_idx" ON "runs"("account_id", "id");

-- CreateIndex
CREATE INDEX "runs_thread_id_id_idx" ON "runs"("thread_id", "id");

-- CreateIndex
CREATE INDEX "model_calls_run_id_idx" ON "model_calls"("run_id");

-- CreateIndex
CREATE INDEX "usage_entries_account_id_created_at_idx" ON "usage_entries"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "tool_calls_run_id_iteration_index_idx" ON "tool_calls"("run_id", "iteration", "index");

-- CreateIndex
CREATE UNIQUE INDEX "outbox_queue_job_id_key" ON "outbox"("queue", "job_id");

-- CreateIndex
CREATE UNIQUE INDEX "sandboxes_thread_id_key" ON "sandboxes"("thread_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "threads" ADD CONSTRAINT "threads_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "threads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "threads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "iterations" ADD CONSTRAINT "iterations_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "model_calls" ADD CONSTRAINT "model_calls_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "usage_entries" ADD CONSTRAINT "usage_entries_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "usage_entries" ADD CONSTRAINT "usage_entries_model_call_id_fkey" FOREIGN KEY ("model_call_id") REFERENCES "model_calls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_events" ADD CONSTRAINT "run_events_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sandboxes" ADD CONSTRAINT "sandboxes_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "threads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;



-- From here on: what the Prisma schema cannot say.

-- I9: a thread has at most one run that is not over.
CREATE UNIQUE INDEX "runs_one_active_per_thread" ON "runs"("thread_id") WHERE "holds_thread";

-- The runs that wait for their thread, in order.
CREATE INDEX "runs_behind_another" ON "runs"("thread_id", "id") WHERE "status" = 'queued' AND NOT "holds_thread";

-- What the reaper looks at. No index holds a lease, so that renewing one touches no index.
CREATE INDEX "runs_due" ON "runs"("id") WHERE "holds_thread" AND "status" IN ('queued', 'running', 'stopping');

-- Room on each page for the next version of a row that every append updates.
ALTER TABLE "runs" SET (fillfactor = 70);
ALTER TABLE "threads" SET (fillfactor = 80);

ALTER TABLE "runs"
    ADD CONSTRAINT "runs_status_is_known" CHECK ("status" IN ('queued', 'running', 'stopping', 'waiting_input', 'waiting_budget', 'completed', 'failed', 'stopped')),
    ADD CONSTRAINT "runs_over_hold_nothing" CHECK ("status" NOT IN ('completed', 'failed', 'stopped') OR ("finished_at" IS NOT NULL AND "lease_owner" IS NULL AND NOT "holds_thread")),
    ADD CONSTRAINT "runs_wait_for_something" CHECK (("status" IN ('waiting_input', 'waiting_budget')) = ("waiting" IS NOT NULL)),
    ADD CONSTRAINT "runs_waiting_hold_no_lease" CHECK ("waiting" IS NULL OR "lease_owner" IS NULL),
    ADD CONSTRAINT "runs_lease_is_whole" CHECK (("lease_owner" IS NULL) = ("lease_expires_at" IS NULL));

ALTER TABLE "run_events" ADD CONSTRAINT "run_events_seq_starts_at_1" CHECK ("seq" > 0);
ALTER TABLE "messages" ADD CONSTRAINT "messages_seq_starts_at_1" CHECK ("seq" > 0);

ALTER TABLE "tool_calls"
    ADD CONSTRAINT "tool_calls_status_is_known" CHECK ("status" IN ('planned', 'dispatched', 'completed', 'failed', 'unknown')),
    ADD CONSTRAINT "tool_calls_effect_class_is_known" CHECK ("effect_class" IN ('pure', 'idempotent', 'keyed', 'unsafe'));

ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_answer_is_whole" CHECK (("status" IS NULL) = ("response" IS NULL));
