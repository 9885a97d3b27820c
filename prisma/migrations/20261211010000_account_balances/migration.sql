SET lock_timeout = '5s';

-- What an account has spent in its current period, its credit beyond that, and what is reserved for model calls under way.
-- Apart from the accounts, whose rows every new run refers to.
-- CreateTable
CREATE TABLE "account_balances" (
    "account_id" TEXT NOT NULL,
    "tier" TEXT,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "spent_usd" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "reserved_usd" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "credit_usd" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "period" TEXT NOT NULL,
    "allowance_usd" DECIMAL(24,12),

    CONSTRAINT "account_balances_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "account_credits" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "usd" DECIMAL(24,12) NOT NULL,
    "reason" TEXT,
    "given_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_credits_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "account_credits_account_id_id_idx" ON "account_credits"("account_id", "id");

-- AddForeignKey
ALTER TABLE "account_balances" ADD CONSTRAINT "account_balances_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "account_credits" ADD CONSTRAINT "account_credits_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

RESET lock_timeout;
