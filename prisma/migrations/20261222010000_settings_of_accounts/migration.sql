SET lock_timeout = '5s';

-- What the account keeps for all of its runs. Without a default, so that no row is rewritten.
ALTER TABLE "accounts"
    ADD COLUMN "settings" JSON,
    ADD COLUMN "settings_updated_at" TIMESTAMPTZ(3);
