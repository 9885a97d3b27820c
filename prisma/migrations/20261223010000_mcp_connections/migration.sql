SET lock_timeout = '5s';

-- MCP servers that a person has connected by OAuth, for the account or for one of its users. `sealed` has the tokens and what
-- is needed to refresh them; `version` counts them. `given` is a client that the account has registered itself, sealed.
CREATE TABLE "mcp_connections" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "end_user" TEXT,
    "url" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "problem" TEXT,
    "issuer" TEXT,
    "client_id" TEXT,
    "scopes" TEXT[],
    "given" TEXT,
    "sealed" TEXT,
    "version" INTEGER NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3),
    "refreshed_at" TIMESTAMPTZ(3),
    "refreshing_until" TIMESTAMPTZ(3),
    "connected_by" TEXT,
    "connected_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mcp_connections_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "mcp_connections_account_id_id_idx" ON "mcp_connections"("account_id", "id");
CREATE UNIQUE INDEX "mcp_connections_once" ON "mcp_connections"("account_id", coalesce("end_user", ''), "url");

ALTER TABLE "mcp_connections" ADD CONSTRAINT "mcp_connections_account_id_fkey"
    FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Pages that lead a person to the authorization server, by the hash of what their address has. `call_id` is a call that waits for
-- it; `attempt` is what the browser that is there brings back with its code, sealed.
CREATE TABLE "mcp_connection_links" (
    "hash" TEXT NOT NULL,
    "connection_id" TEXT NOT NULL,
    "scopes" TEXT[],
    "begun_by" TEXT NOT NULL,
    "session_id" TEXT,
    "call_id" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "state_hash" TEXT,
    "browser_hash" TEXT,
    "attempt" TEXT,
    "attempt_expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "mcp_connection_links_pkey" PRIMARY KEY ("hash")
);

CREATE INDEX "mcp_connection_links_connection_id_idx" ON "mcp_connection_links"("connection_id");
CREATE UNIQUE INDEX "mcp_connection_links_state_hash_key" ON "mcp_connection_links"("state_hash");

ALTER TABLE "mcp_connection_links" ADD CONSTRAINT "mcp_connection_links_connection_id_fkey"
    FOREIGN KEY ("connection_id") REFERENCES "mcp_connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

RESET lock_timeout;
