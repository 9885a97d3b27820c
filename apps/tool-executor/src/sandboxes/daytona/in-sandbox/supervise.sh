# Runs one command and notes how it ended: ($1) root ($2) key ($3) session ($4) run ($5) id ($6) the script around the command.
umask 077
directory=$1/commands/$2 own=$1/sessions/$3
IFS=' ' read -r -a fields <"/proc/$$/stat"
IFS= read -r -d '' target <"$directory/cwd"
IFS= read -r -d '' command <"$directory/command"
cp "$own/environment" "$directory/state/environment" 2>/dev/null && only=(-i) || only=("LANG=${LANG:-C.UTF-8}")
cd "$target" || cd /workspace
# Held open here, so that neither side waits for the other and the command never reads its end.
exec 3</dev/null
[ -p "$directory/input" ] && exec 3<>"$directory/input"
echo "$$ ${fields[21]}" >"$directory/process.new" && mv "$directory/process.new" "$directory/process"
(
  umask 022
  exec env "${only[@]}" PATH="$PATH" SANDBOX_COMMAND="$4:$2" RONDO_IDEMPOTENCY_KEY="$5" \
    setsid bash --norc --noprofile -c "$6" bash "$directory/state" "$command" <&3 3<&- >"$directory/output" 2>&1
)
code=$?
if [ -e "$directory/state/cwd" ] && [ "$(stat -c %s "$directory/state/environment")" -le 262144 ]; then
  mv -f "$directory/state/environment" "$own/environment"
  mv -f "$directory/state/cwd" "$own/cwd"
fi
rm -rf "$directory/state"
echo "$code" >"$directory/exit.new" && mv "$directory/exit.new" "$directory/exit"
