# Waits until a command has written more than `offset` bytes, or has ended, or the time is over, in whole seconds. Prints its
# state, the size of its output, and its directory; then what it wrote from the offset on.
directory=$root/commands/$key own=$root/sessions/$session
while :; do
  if [ -e "$directory/exit" ]; then
    read -r code <"$directory/exit"
    [ -e "$directory/killed" ] && state=killed || state=exit:$code
  elif is_alive "$directory"; then
    state=running
  elif [ -e "$directory/exit" ]; then
    continue
  else
    [ -e "$directory/killed" ] && state=killed || state=lost
  fi
  size=$(stat -c %s "$directory/output" 2>/dev/null || echo 0)
  [ "$state" != running ] || [ "$size" -gt "$offset" ] || [ $((SECONDS * 1000)) -ge "$wait" ] && break
  sleep 0.05
done
shown=$own/cwd
[ "$state" = running ] || ! [ -e "$shown" ] && shown=$directory/cwd
echo "$state $size $(head -c 4096 "$shown" 2>/dev/null | base64 -w0)"
[ "$size" -gt "$offset" ] && tail -c "+$((offset + 1))" "$directory/output" | head -c "$most" | base64 -w0
exit 0
