SET lock_timeout = '5s';

-- The thread whose workspace the runs of a project use. Null: each thread has its own. It has no messages and no runs.
ALTER TABLE "projects" ADD COLUMN "workspace_id" TEXT;
ALTER TABLE "threads" ADD COLUMN "is_workspace" BOOLEAN NOT NULL DEFAULT false;

RESET lock_timeout;
