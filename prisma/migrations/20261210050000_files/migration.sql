SET lock_timeout = '5s';

-- CreateTable
CREATE TABLE "files" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "size" BIGINT NOT NULL DEFAULT 0,
    "media_type" TEXT,
    "sha256" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "files_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "file_parts" (
    "file_id" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "file_parts_pkey" PRIMARY KEY ("file_id","index")
);

-- Most files are compressed already, and a part is always read whole.
ALTER TABLE "file_parts" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;

-- CreateTable
CREATE TABLE "run_files" (
    "run_id" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "file_id" TEXT NOT NULL,
    "thread_id" TEXT NOT NULL,
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "run_files_pkey" PRIMARY KEY ("run_id","path")
);

-- CreateIndex
CREATE INDEX "files_account_id_id_idx" ON "files"("account_id", "id");

-- CreateIndex
CREATE INDEX "files_created_at_idx" ON "files"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "run_files_thread_id_path_key" ON "run_files"("thread_id", "path");

-- CreateIndex
CREATE INDEX "run_files_file_id_idx" ON "run_files"("file_id");

-- AddForeignKey
ALTER TABLE "files" ADD CONSTRAINT "files_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "file_parts" ADD CONSTRAINT "file_parts_file_id_fkey" FOREIGN KEY ("file_id") REFERENCES "files"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_files" ADD CONSTRAINT "run_files_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

RESET lock_timeout;
