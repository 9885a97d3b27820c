# Ends all processes whose mark matches `pattern`: SIGTERM, the grace time in milliseconds, then SIGKILL. First notes of the
# commands in `keys` that they were killed, unless they have ended. Prints the processes that it found, and how many are left.
for key in $keys; do
  [ -e "$root/commands/$key/exit" ] || : >"$root/commands/$key/killed" 2>/dev/null
done
for pid in $(processes_of "$pattern" | grep -v -e -); do
  name=$(tr -cd '\40-\176' 2>/dev/null <"/proc/$pid/comm")
  owner=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | sed -n 's/^RONDO_IDEMPOTENCY_KEY=//p' | head -n 1 | base64 -w0)
  echo "found ${owner:--} $name"
done
for ((turn = 0; turn * 50 <= grace; turn++)); do
  alive=$(processes_of "$pattern")
  [ -n "$alive" ] || break
  [ "$turn" = 0 ] && [ "$grace" -gt 0 ] && kill -TERM -- $alive 2>/dev/null
  [ $((turn * 50)) -lt "$grace" ] && sleep 0.05
done
for ((turn = 0; turn < 100; turn++)); do
  alive=$(processes_of "$pattern")
  [ -n "$alive" ] || break
  kill -KILL -- $alive 2>/dev/null
  sleep 0.02
done
echo "left $(echo $alive | wc -w)"
