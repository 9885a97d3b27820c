# Makes the workspace and checks the programs that the other scripts need. Prints `ready`, or what is missing.
umask 077
mkdir -p "$root/commands" "$root/sessions" || { echo "failed $root cannot be created"; exit; }
for program in setsid awk grep stat find realpath base64 head tail; do
  command -v "$program" >/dev/null || { echo "failed its image has no program $program"; exit; }
done
if ! [ -d /workspace ]; then
  mkdir /workspace 2>/dev/null || sudo -n mkdir /workspace 2>/dev/null
fi
[ -w /workspace ] || sudo -n chown "$(id -u):$(id -g)" /workspace 2>/dev/null
[ -d /workspace ] && [ -w /workspace ] || { echo "failed its user cannot create /workspace"; exit; }
echo ready
