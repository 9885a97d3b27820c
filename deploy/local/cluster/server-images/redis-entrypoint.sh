#!/bin/sh
# Runs the server as the user redis, and other programs as they are, as the official image does.
set -eu
[ "$1" = redis-server ] && [ "$(id -u)" = 0 ] || exec "$@"
chown redis /data
exec setpriv --reuid=redis --regid=redis --clear-groups "$@"
