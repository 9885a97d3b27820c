SET lock_timeout = '5s';
ALTER TABLE "api_keys" ADD COLUMN "seeded" BOOLEAN NOT NULL DEFAULT false;
RESET lock_timeout;

-- Keys that were configured before: when another one is configured they are revoked.
UPDATE "api_keys" SET "seeded" = true WHERE "account_id" = 'acc_admin' AND "name" = 'admin' AND "scopes" = ARRAY['admin'];
