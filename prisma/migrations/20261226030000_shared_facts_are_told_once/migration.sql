SET lock_timeout = '5s';

-- As before, but without the facts that a fork shares with its origin: they happened to the origin, and were told of it. Whoever adds
-- up the usage that is told would else count them again.
CREATE OR REPLACE FUNCTION "deliveries_of_fact"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM runs AS run JOIN webhook_endpoints AS endpoint ON endpoint.account_id = run.account_id
    WHERE run.id = NEW.run_id AND NOT endpoint.is_paused AND NEW.type = ANY (endpoint.events)
      AND NEW.seq > coalesce((run.forked_from ->> 'seq')::int, 0)
  ) THEN
    RETURN NULL;
  END IF;

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

RESET lock_timeout;
