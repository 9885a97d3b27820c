SET lock_timeout = '5s';

-- The first words of the input. Null without an input, and for runs of before.
ALTER TABLE "runs" ADD COLUMN "preview" TEXT;

-- CreateTable
CREATE TABLE "run_inputs" (
    "run_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "text" TEXT NOT NULL,

    CONSTRAINT "run_inputs_pkey" PRIMARY KEY ("run_id")
);

-- AddForeignKey
ALTER TABLE "run_inputs" ADD CONSTRAINT "run_inputs_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

RESET lock_timeout;
