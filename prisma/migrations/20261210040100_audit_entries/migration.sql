SET lock_timeout = '5s';

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "caller_id" TEXT NOT NULL,
    "session_id" TEXT,
    "address" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "target" TEXT,
    "outcome" JSON,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "audit_entries_account_id_id_idx" ON "audit_entries"("account_id", "id");

-- AddForeignKey
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- An entry is written before the act, and its outcome once, after it. Nothing else changes.
CREATE FUNCTION "refuse_change_of_audit_entry"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.outcome IS NOT NULL OR to_jsonb(OLD) - 'outcome' IS DISTINCT FROM to_jsonb(NEW) - 'outcome' THEN
    RAISE EXCEPTION 'an entry of the audit log does not change';
  END IF;
  RETURN NEW;
END;
$$;

CREATE TRIGGER "audit_entries_do_not_change" BEFORE UPDATE ON "audit_entries"
FOR EACH ROW EXECUTE FUNCTION "refuse_change_of_audit_entry"();

RESET lock_timeout;
