SET lock_timeout = '5s';

-- Which threads refer to an image, so that it can be deleted with the last of them.
CREATE TABLE "blob_refs" (
    "thread_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,

    CONSTRAINT "blob_refs_pkey" PRIMARY KEY ("thread_id","sha256")
);

-- CreateIndex
CREATE INDEX "blob_refs_account_id_sha256_idx" ON "blob_refs"("account_id", "sha256");

-- AddForeignKey
ALTER TABLE "blob_refs" ADD CONSTRAINT "blob_refs_account_id_sha256_fkey" FOREIGN KEY ("account_id", "sha256") REFERENCES "blobs"("account_id", "sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

RESET lock_timeout;

-- What is there already. Results of tools are in messages too.
INSERT INTO "blob_refs" ("thread_id", "account_id", "sha256")
SELECT DISTINCT "said"."thread_id", "blobs"."account_id", "blobs"."sha256"
FROM (
    SELECT "thread_id", "content"::text AS "text" FROM "messages"
    UNION ALL
    SELECT "thread_id", "queued_input"::text FROM "runs" WHERE "queued_input" IS NOT NULL
) AS "said"
CROSS JOIN LATERAL regexp_matches("said"."text", '"sha256": ?"([0-9a-f]{64})"', 'g') AS "found"
JOIN "threads" ON "threads"."id" = "said"."thread_id"
JOIN "blobs" ON "blobs"."account_id" = "threads"."account_id" AND "blobs"."sha256" = "found"[1]
WHERE EXISTS (SELECT FROM "blobs") AND "said"."text" LIKE '%"sha256"%';
