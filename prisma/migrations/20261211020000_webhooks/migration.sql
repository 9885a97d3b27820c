SET lock_timeout = '5s';

-- CreateTable
CREATE TABLE "webhook_endpoints" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "events" TEXT[],
    "is_paused" BOOLEAN NOT NULL DEFAULT false,
    "secrets" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "run_id" TEXT,
    "seq" INTEGER,
    "type" TEXT NOT NULL,
    "body" JSON NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "response_status" INTEGER,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "webhook_endpoints_account_id_id_idx" ON "webhook_endpoints"("account_id", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_account_id_id_idx" ON "webhook_deliveries"("account_id", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_endpoint_id_id_idx" ON "webhook_deliveries"("endpoint_id", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_run_id_endpoint_id_seq_idx" ON "webhook_deliveries"("run_id", "endpoint_id", "seq");

-- CreateIndex
CREATE INDEX "webhook_deliveries_created_at_idx" ON "webhook_deliveries"("created_at");

-- What gateways look for every second, and the list of what was given up.
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries"("next_attempt_at") WHERE "status" = 'pending';
CREATE INDEX "webhook_deliveries_dead" ON "webhook_deliveries"("account_id", "id") WHERE "status" = 'dead';

-- AddForeignKey
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Every fact is an insert into run_events, whichever service and version writes it. This runs in its transaction, as the owner
-- of the tables, so that the services that write facts need no right to endpoints.
CREATE FUNCTION "deliveries_of_fact"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO webhook_deliveries (id, account_id, endpoint_id, event_id, run_id, seq, type, body)
  SELECT 'whd_' || substr(NEW.id, 5) || substr(endpoint.id, 5), run.account_id, endpoint.id, NEW.id, NEW.run_id, NEW.seq, NEW.type,
    json_build_object(
      'type', NEW.type,
      'timestamp', moment.text,
      'account_id', run.account_id,
      'agent_id', run.agent_id,
      'data', json_build_object('id', NEW.id, 'v', 1, 'seq', NEW.seq, 'type', NEW.type, 'run_id', NEW.run_id,
        'thread_id', run.thread_id, 'iteration', NEW.iteration, 'epoch', NEW.epoch, 'at', moment.text, 'data', NEW.data)
    )
  FROM runs AS run
    JOIN webhook_endpoints AS endpoint ON endpoint.account_id = run.account_id
    CROSS JOIN to_char(NEW.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS moment(text)
  WHERE run.id = NEW.run_id AND NOT endpoint.is_paused AND NEW.type = ANY (endpoint.events)
  ON CONFLICT (id) DO NOTHING;
  RETURN NULL;
END;
$$;

-- The condition is checked before anything is called, so that other facts cost nothing. `webhookFactTypes` has the same list.
CREATE TRIGGER "run_events_are_delivered" AFTER INSERT ON "run_events"
FOR EACH ROW WHEN (NEW.type IN (
  'run.started', 'run.waiting', 'run.resumed', 'run.completed', 'run.failed', 'run.stopped',
  'approval.requested', 'approval.decided', 'usage.recorded'
))
EXECUTE FUNCTION "deliveries_of_fact"();

RESET lock_timeout;
