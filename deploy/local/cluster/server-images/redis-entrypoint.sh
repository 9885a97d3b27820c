#!/bin/sh
# Runs the server as the user redis, as the official image does.
set -eu
chown redis /data
exec setpriv --reuid=redis --regid=redis --clear-groups "$@"
