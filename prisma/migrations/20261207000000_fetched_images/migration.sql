SET lock_timeout = '5s';

-- What became of the URLs of images in messages, so that each is fetched once and every later request shows the same.
CREATE TABLE "fetched_images" (
    "message_id" TEXT NOT NULL,
    "block" INTEGER NOT NULL,
    "sha256" TEXT,
    "media_type" TEXT,
    "width" INTEGER,
    "height" INTEGER,
    "problem" TEXT,
    "fetched_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "fetched_images_pkey" PRIMARY KEY ("message_id","block")
);

-- AddForeignKey
ALTER TABLE "fetched_images" ADD CONSTRAINT "fetched_images_message_id_fkey" FOREIGN KEY ("message_id") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- From here on: what the Prisma schema cannot say.

ALTER TABLE "fetched_images"
    ADD CONSTRAINT "fetched_images_are_blobs_or_problems"
    CHECK (("problem" IS NULL) = (num_nulls("sha256", "media_type", "width", "height") = 0));

RESET lock_timeout;
