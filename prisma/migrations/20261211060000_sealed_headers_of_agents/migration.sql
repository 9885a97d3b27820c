SET lock_timeout = '5s';

-- The sealed values of headers that the definition shows as null, by server and header. Null where there are none.
ALTER TABLE "agent_versions" ADD COLUMN "sealed_headers" JSON;

RESET lock_timeout;
