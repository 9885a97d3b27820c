SET lock_timeout = '5s';

-- Tokens for browsers of one person or on one thread. Only a hash is kept, and expired ones are deleted when another one is made.
CREATE TABLE "client_tokens" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "end_user" TEXT,
    "thread_id" TEXT,
    "agent_id" TEXT,
    "scopes" TEXT[],
    "hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "client_tokens_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "client_tokens_hash_key" ON "client_tokens"("hash");
CREATE INDEX "client_tokens_account_id_id_idx" ON "client_tokens"("account_id", "id");
CREATE INDEX "client_tokens_account_id_expires_at_idx" ON "client_tokens"("account_id", "expires_at");

ALTER TABLE "client_tokens" ADD CONSTRAINT "client_tokens_account_id_fkey"
    FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The person, or the thread, of the token that a file was uploaded with. Null: a key of the account uploaded it.
ALTER TABLE "files" ADD COLUMN "end_user" TEXT, ADD COLUMN "of_thread" TEXT;

RESET lock_timeout;
