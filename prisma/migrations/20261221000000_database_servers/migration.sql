SET lock_timeout = '5s';

-- The servers that this database has run on, by the history of their writes. The greatest number is the present one.
CREATE TABLE "database_servers" (
    "number" INTEGER NOT NULL,
    "history" TEXT NOT NULL,

    CONSTRAINT "database_servers_pkey" PRIMARY KEY ("number")
);

RESET lock_timeout;
