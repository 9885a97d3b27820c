SET lock_timeout = '5s';

-- CreateTable
CREATE TABLE "triggers" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "run" JSON NOT NULL,
    "thread_id" TEXT,
    "overlap" TEXT NOT NULL,
    "is_paused" BOOLEAN NOT NULL DEFAULT false,
    "cron" TEXT,
    "time_zone" TEXT,
    "missed" TEXT,
    "next_fire_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "triggers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "trigger_executions" (
    "id" TEXT NOT NULL,
    "trigger_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "reason" TEXT,
    "error" JSON,
    "due_at" TIMESTAMPTZ(3),
    "due_through" TIMESTAMPTZ(3),
    "fired_at" TIMESTAMPTZ(3),
    "run_id" TEXT,
    "run_may_be_active" BOOLEAN NOT NULL DEFAULT false,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "trigger_executions_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "triggers_account_id_kind_id_idx" ON "triggers"("account_id", "kind", "id");

-- CreateIndex
CREATE INDEX "trigger_executions_trigger_id_id_idx" ON "trigger_executions"("trigger_id", "id");

-- CreateIndex
CREATE INDEX "trigger_executions_created_at_idx" ON "trigger_executions"("created_at");

-- A due time is fired or skipped once.
CREATE UNIQUE INDEX "trigger_executions_trigger_id_due_at_key" ON "trigger_executions"("trigger_id", "due_at");

-- What gateways look for every second.
CREATE INDEX "triggers_due" ON "triggers"("next_fire_at") WHERE "next_fire_at" IS NOT NULL;
CREATE INDEX "trigger_executions_pending" ON "trigger_executions"("trigger_id", "id") WHERE "status" = 'pending';
CREATE INDEX "trigger_executions_active" ON "trigger_executions"("trigger_id") WHERE "run_may_be_active";

-- AddForeignKey
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "trigger_executions" ADD CONSTRAINT "trigger_executions_trigger_id_fkey" FOREIGN KEY ("trigger_id") REFERENCES "triggers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

RESET lock_timeout;
