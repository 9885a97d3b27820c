SET lock_timeout = '5s';

-- What an account pays for a model call is its cost times a factor, which is kept with the entry. Null, as in entries of
-- before, is 1.
ALTER TABLE "usage_entries" ADD COLUMN "price_factor" DECIMAL(9,6);

-- Of one account, instead of that of its tier.
ALTER TABLE "account_balances" ADD COLUMN "price_factor" DECIMAL(9,6);

RESET lock_timeout;
