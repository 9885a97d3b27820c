SET lock_timeout = '5s';

-- Null: the key does not expire, or has not been used since uses are noted.
ALTER TABLE "api_keys" ADD COLUMN "expires_at" TIMESTAMPTZ(3), ADD COLUMN "last_used_at" TIMESTAMPTZ(3);

RESET lock_timeout;
