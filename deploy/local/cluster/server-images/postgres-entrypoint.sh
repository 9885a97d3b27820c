#!/bin/sh
# Makes the database in the first start, as the official image does, and runs the server.
set -eu
: "${PGDATA:=/var/lib/postgresql/data}"
programs=$(echo /usr/lib/postgresql/*/bin)
as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chown postgres "$PGDATA"
  chmod 700 "$PGDATA"
  password=$(mktemp)
  printf '%s' "$POSTGRES_PASSWORD" > "$password"
  chown postgres "$password"
  as_postgres "$programs/initdb" -D "$PGDATA" --username "$POSTGRES_USER" --pwfile "$password" --auth scram-sha-256 \
    --encoding UTF8 --no-locale
  rm "$password"
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "create database \"$POSTGRES_DB\"" | as_postgres "$programs/postgres" --single -D "$PGDATA" postgres
fi
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$programs/postgres" -D "$PGDATA" \
  -c listen_addresses='*' -c unix_socket_directories=/tmp -c jit=off
