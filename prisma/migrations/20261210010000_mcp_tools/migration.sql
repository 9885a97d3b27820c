SET lock_timeout = '5s';

-- The definition of each tool of an MCP server as an account first used it or last confirmed it. `changed` is what the server
-- said last, where that is another one.
CREATE TABLE "mcp_tools" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "server_hash" TEXT NOT NULL,
    "server" TEXT NOT NULL,
    "tool" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "accepted" JSON NOT NULL,
    "changed_fingerprint" TEXT,
    "changed" JSON,
    "changed_at" TIMESTAMPTZ(3),
    "confirmed_by" TEXT,
    "confirmed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mcp_tools_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "mcp_tools_account_id_server_hash_tool_key" ON "mcp_tools"("account_id", "server_hash", "tool");

-- CreateIndex
CREATE INDEX "mcp_tools_account_id_id_idx" ON "mcp_tools"("account_id", "id");

-- AddForeignKey
ALTER TABLE "mcp_tools" ADD CONSTRAINT "mcp_tools_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

RESET lock_timeout;
