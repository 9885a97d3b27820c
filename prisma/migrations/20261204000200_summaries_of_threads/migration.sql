-- Where a run goes on from in its thread. Other messages do not touch it.
CREATE INDEX CONCURRENTLY "messages_summaries" ON "messages"("thread_id", "seq") WHERE "type" = 'summary';
