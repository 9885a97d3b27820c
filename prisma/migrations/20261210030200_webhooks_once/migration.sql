-- A webhook is handled once. CONCURRENTLY wants to be alone in its file.
CREATE UNIQUE INDEX CONCURRENTLY "trigger_executions_trigger_id_webhook_id_key" ON "trigger_executions"("trigger_id", "webhook_id");
