#!/bin/sh
# Runs a program of another Debian, whose files lie in a folder: `enter.sh FOLDER SHARED:SHARED PROGRAM …`. The program has the folder as
# its root, sees the kernel's file systems and the shared folders, and is started in a mount namespace of its own, which it takes along.
set -eu
folder=$1
shared=$2
shift 2
mount --make-rprivate /
mount --bind "$folder" "$folder"
for place in /proc /sys /dev; do mount --rbind "$place" "$folder$place"; done
IFS=:
for place in $shared; do
  mkdir -p "$folder$place"
  mount --bind "$place" "$folder$place"
done
mkdir -p "$folder/oldroot"
cd "$folder"
pivot_root . oldroot
cd /
umount -l /oldroot
exec "$@"
