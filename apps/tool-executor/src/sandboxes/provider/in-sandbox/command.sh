# Runs one command ($2) of a session. The session's environment comes from, and goes back to, the directory $1.
# The trap holds the path as text and the command is expanded before it runs, so that nothing the session exports can
# replace either of them. What belongs to this command alone stays out of the session. The folder is that in which this command
# starts ($3), also where the last one of the session ended in another.
exec 2>&1
{ echo 500 >/proc/self/oom_score_adj; } 2>/dev/null
trap "{ unset SANDBOX_COMMAND RONDO_IDEMPOTENCY_KEY; source '$1/after'; declare -px >'$1/environment'; printf %s \"\$PWD\" >'$1/cwd'; } 2>/dev/null" EXIT
set -- "$1" "$2" "$PWD"; source "$1/environment" 2>/dev/null
source "$1/own" 2>/dev/null; declare PWD="$3" 2>/dev/null
eval "set --
$2"
