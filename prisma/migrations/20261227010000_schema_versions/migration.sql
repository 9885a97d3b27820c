SET lock_timeout = '5s';

-- The versions that have migrated this database, and the oldest one whose services may still work with the schema of each.
CREATE TABLE "schema_versions" (
    "version" TEXT NOT NULL,
    "oldest_service" TEXT NOT NULL,

    CONSTRAINT "schema_versions_pkey" PRIMARY KEY ("version")
);

RESET lock_timeout;
