-- CreateTable
CREATE TABLE "blobs" (
    "account_id" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "media_type" TEXT NOT NULL,
    "width" INTEGER NOT NULL,
    "height" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "blobs_pkey" PRIMARY KEY ("account_id","sha256")
);

-- AddForeignKey
ALTER TABLE "blobs" ADD CONSTRAINT "blobs_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- From here on: what the Prisma schema cannot say.

ALTER TABLE "blobs"
    ADD CONSTRAINT "blobs_are_what_their_hash_says" CHECK ("sha256" = encode(sha256("bytes"), 'hex')),
    ADD CONSTRAINT "blobs_are_not_too_large" CHECK (octet_length("bytes") <= 5242880);

-- Images are compressed already.
ALTER TABLE "blobs" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
