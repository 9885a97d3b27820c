SET lock_timeout = '5s';

-- Of webhook triggers. Secrets are sealed; a gateway opens them to check signatures.
ALTER TABLE "triggers" ADD COLUMN "signature" TEXT;
ALTER TABLE "triggers" ADD COLUMN "tolerance_s" INTEGER;
ALTER TABLE "triggers" ADD COLUMN "secrets" JSON;
ALTER TABLE "trigger_executions" ADD COLUMN "webhook_id" TEXT;
ALTER TABLE "trigger_executions" ADD COLUMN "input" JSON;

RESET lock_timeout;
