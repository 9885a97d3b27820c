SET lock_timeout = '5s';

-- Whether a run is queued on a thread. VOLATILE, so that it sees what has been committed when it is called: the statement that ends
-- a run may have waited for the request that queued another one, which the snapshot of the statement does not show.
CREATE FUNCTION "has_queued_run"("thread" TEXT) RETURNS BOOLEAN LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM runs WHERE thread_id = thread AND NOT holds_thread AND finished_at IS NULL);
END;
$$;

RESET lock_timeout;
