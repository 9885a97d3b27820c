SET lock_timeout = '5s';

-- Folders of instructions and programs that runs may name, each with all of its versions.
CREATE TABLE "skills" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "skills_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "skill_versions" (
    "skill_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "front_matter" JSON NOT NULL,
    "sha256" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "file_count" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "skill_versions_pkey" PRIMARY KEY ("skill_id","version")
);

CREATE TABLE "skill_files" (
    "skill_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "path" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "is_executable" BOOLEAN NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "skill_files_pkey" PRIMARY KEY ("skill_id","version","path")
);

CREATE INDEX "skills_account_id_id_idx" ON "skills"("account_id", "id");
CREATE UNIQUE INDEX "skills_account_id_name_key" ON "skills"("account_id", "name");

ALTER TABLE "skills" ADD CONSTRAINT "skills_account_id_fkey"
    FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "skill_versions" ADD CONSTRAINT "skill_versions_skill_id_fkey"
    FOREIGN KEY ("skill_id") REFERENCES "skills"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "skill_files" ADD CONSTRAINT "skill_files_skill_id_version_fkey"
    FOREIGN KEY ("skill_id", "version") REFERENCES "skill_versions"("skill_id", "version") ON DELETE CASCADE ON UPDATE CASCADE;

RESET lock_timeout;
