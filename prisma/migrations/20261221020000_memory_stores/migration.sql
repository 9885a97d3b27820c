SET lock_timeout = '5s';

-- What agents remember: entries like small files, each with its versions and who wrote them.
CREATE TABLE "memory_stores" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "project_id" TEXT,
    "agent_id" TEXT,
    "end_user" TEXT,
    "version" INTEGER NOT NULL DEFAULT 0,
    "size" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "memory_stores_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "memory_entries" (
    "store_id" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "words" TSVECTOR NOT NULL,

    CONSTRAINT "memory_entries_pkey" PRIMARY KEY ("store_id","path")
);

CREATE TABLE "memory_versions" (
    "store_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "path" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "caller_id" TEXT,
    "run_id" TEXT,
    "call_id" TEXT,
    "seq" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "memory_versions_pkey" PRIMARY KEY ("store_id","version")
);

CREATE INDEX "memory_stores_account_id_id_idx" ON "memory_stores"("account_id", "id");
CREATE INDEX "memory_stores_project_id_idx" ON "memory_stores"("project_id");
CREATE INDEX "memory_stores_agent_id_idx" ON "memory_stores"("agent_id");
CREATE UNIQUE INDEX "memory_stores_name_once" ON "memory_stores"
    ("account_id", "name", coalesce("project_id", ''), coalesce("agent_id", ''), coalesce("end_user", ''));
CREATE INDEX "memory_versions_store_id_path_version_idx" ON "memory_versions"("store_id", "path", "version");
CREATE UNIQUE INDEX "memory_versions_call_id_key" ON "memory_versions"("call_id");

ALTER TABLE "memory_stores" ADD CONSTRAINT "memory_stores_account_id_fkey"
    FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "memory_stores" ADD CONSTRAINT "memory_stores_project_id_fkey"
    FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "memory_stores" ADD CONSTRAINT "memory_stores_agent_id_fkey"
    FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "memory_entries" ADD CONSTRAINT "memory_entries_store_id_fkey"
    FOREIGN KEY ("store_id") REFERENCES "memory_stores"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "memory_versions" ADD CONSTRAINT "memory_versions_store_id_path_fkey"
    FOREIGN KEY ("store_id", "path") REFERENCES "memory_entries"("store_id", "path") ON DELETE CASCADE ON UPDATE CASCADE;

RESET lock_timeout;
