SET lock_timeout = '5s';

-- CreateTable
CREATE TABLE "agents" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "is_default" BOOLEAN NOT NULL DEFAULT false,
    "version" INTEGER NOT NULL DEFAULT 1,
    "latest_version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_versions" (
    "agent_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "definition" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_versions_pkey" PRIMARY KEY ("agent_id","version")
);

-- CreateIndex
CREATE UNIQUE INDEX "agents_account_id_name_key" ON "agents"("account_id", "name");

-- CreateIndex
CREATE INDEX "agents_account_id_id_idx" ON "agents"("account_id", "id");

-- One default per account.
CREATE UNIQUE INDEX "agents_one_default_per_account" ON "agents"("account_id") WHERE "is_default";

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_versions" ADD CONSTRAINT "agent_versions_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- No foreign keys: a run and a thread outlive their agent, and every new run would lock the row of its agent.
ALTER TABLE "runs" ADD COLUMN "agent_id" TEXT;
ALTER TABLE "runs" ADD COLUMN "agent_version" INTEGER;
ALTER TABLE "threads" ADD COLUMN "agent_id" TEXT;

RESET lock_timeout;
