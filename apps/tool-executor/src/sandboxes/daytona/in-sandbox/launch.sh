# Starts a command under its key, unless it runs or has ended already: then the caller attaches to it, so that a repeated
# request never runs a command twice. One that was killed or lost runs again. Prints `started` or `attached`.
umask 077
directory=$root/commands/$key own=$root/sessions/$session
if [ -n "$cwd" ]; then
  [ -d "$cwd" ] || { echo not_a_directory; exit; }
  target=$cwd
else
  target=$(cat "$own/cwd" 2>/dev/null)
  [ -d "$target" ] || target=/workspace
fi
mkdir -p "$own"

# Until the supervisor runs: then its directory can be told from one whose supervisor is gone.
wait_for_start() {
  local turn
  for ((turn = 0; turn < 1000; turn++)); do
    [ -d "$directory" ] && ! [ -e "$directory/process" ] || return
    sleep 0.01
  done
}

# Only one of several requests makes the directory, and that one starts the command.
if ! mkdir "$directory" 2>/dev/null; then
  wait_for_start
  if [ -e "$directory/exit" ] && ! [ -e "$directory/killed" ] || is_alive "$directory"; then
    echo attached
    exit
  fi
  rm -rf "$directory"
  mkdir "$directory" 2>/dev/null || { wait_for_start; echo attached; exit; }
fi
# Outputs take space, so only those of the latest commands are kept.
ls -1t "$root/commands" | tail -n "+$kept" | while read -r old; do
  [ -e "$root/commands/$old/exit" ] && rm -rf "${root:?}/commands/$old"
done
mkdir "$directory/state"
: >"$directory/output"
[ "$input" = 1 ] && mkfifo "$directory/input"
printf %s "$target" >"$directory/cwd"
printf %s "$meta" >"$directory/meta"
printf %s "$command" >"$directory/command"
[ "$background" = 1 ] && printf %s "$key" >"$own/job"
setsid bash --norc --noprofile -c "$supervise" bash "$root" "$key" "$session" "$run" "$id" "$script" </dev/null >/dev/null 2>&1 &
wait_for_start
echo started
