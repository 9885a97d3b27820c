SET lock_timeout = '5s';

-- What a person says of a version. It may be changed later: it is no part of the definition.
ALTER TABLE "agent_versions" ADD COLUMN "note" TEXT;

RESET lock_timeout;
