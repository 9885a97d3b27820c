SET lock_timeout = '5s';

-- The person for whom an account runs a thread, as the account names them. Null: none was named.
ALTER TABLE "threads" ADD COLUMN "end_user" TEXT;
-- That of its thread, and the key, or the user of an outside issuer, that started it.
ALTER TABLE "runs" ADD COLUMN "end_user" TEXT, ADD COLUMN "created_by" TEXT;

RESET lock_timeout;
