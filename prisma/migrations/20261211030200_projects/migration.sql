SET lock_timeout = '5s';

-- CreateTable
CREATE TABLE "projects" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "name_source" TEXT NOT NULL,
    "is_public" BOOLEAN NOT NULL DEFAULT false,
    "titled_run_id" TEXT,
    "title_due_at" TIMESTAMPTZ(3),
    "title_attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "projects_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "projects_account_id_id_idx" ON "projects"("account_id", "id");

-- The few that wait for a title, and the few that are deleted.
CREATE INDEX "projects_to_title" ON "projects"("title_due_at") WHERE "title_due_at" IS NOT NULL;
CREATE INDEX "projects_to_purge" ON "projects"("deleted_at") WHERE "deleted_at" IS NOT NULL;

-- AddForeignKey
ALTER TABLE "projects" ADD CONSTRAINT "projects_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "threads" ADD COLUMN "project_id" TEXT, ADD COLUMN "is_public" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "runs" ADD COLUMN "project_id" TEXT;

RESET lock_timeout;
