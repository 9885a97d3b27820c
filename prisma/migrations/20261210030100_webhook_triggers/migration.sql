SET lock_timeout = '5s';

-- Of webhook triggers. Secrets are sealed; a gateway opens them to check signatures.
ALTER TABLE "triggers" ADD COLUMN "signature" TEXT;
ALTER TABLE "triggers" ADD COLUMN "tolerance_s" INTEGER;
ALTER TABLE "triggers" ADD COLUMN "secrets" JSON;
ALTER TABLE "trigger_executions" ADD COLUMN "webhook_id" TEXT;
ALTER TABLE "trigger_executions" ADD COLUMN "input" JSON;

-- A webhook is handled once. The tables are new and small.
CREATE UNIQUE INDEX "trigger_executions_trigger_id_webhook_id_key" ON "trigger_executions"("trigger_id", "webhook_id");

RESET lock_timeout;
