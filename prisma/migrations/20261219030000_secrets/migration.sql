SET lock_timeout = '5s';

-- What sandboxes and MCP servers may use and not read, sealed. One name stands once in an account, and once in each project.
CREATE TABLE "secrets" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "project_id" TEXT,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "allowed_hosts" TEXT[],
    "methods" TEXT[],
    "placement" JSON NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secrets_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "secrets_account_id_id_idx" ON "secrets"("account_id", "id");
CREATE INDEX "secrets_project_id_idx" ON "secrets"("project_id");
CREATE UNIQUE INDEX "secrets_name_once" ON "secrets"("account_id", coalesce("project_id", ''), "name");

ALTER TABLE "secrets" ADD CONSTRAINT "secrets_account_id_fkey"
    FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_project_id_fkey"
    FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Each request that a secret was opened for, or refused to.
CREATE TABLE "secret_uses" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "secret_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "run_id" TEXT,
    "call_id" TEXT,
    "via" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "status" INTEGER,
    "refusal" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secret_uses_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "secret_uses_account_id_id_idx" ON "secret_uses"("account_id", "id");
CREATE INDEX "secret_uses_secret_id_id_idx" ON "secret_uses"("secret_id", "id");
CREATE INDEX "secret_uses_run_id_id_idx" ON "secret_uses"("run_id", "id");
CREATE INDEX "secret_uses_created_at_idx" ON "secret_uses"("created_at");

ALTER TABLE "secret_uses" ADD CONSTRAINT "secret_uses_account_id_fkey"
    FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

RESET lock_timeout;
