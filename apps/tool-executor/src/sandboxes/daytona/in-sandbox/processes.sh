# Functions of the other scripts. `root` is where Rondo keeps the state of commands and sessions.

# When a process started, in clock ticks since the boot: with the pid it names one process and no later one.
started_at() {
  local fields
  IFS=' ' read -r -a fields 2>/dev/null <"/proc/$1/stat" && echo "${fields[21]}"
}

# Whether the supervisor of the command in directory $1 is alive.
is_alive() {
  local pid start
  read -r pid start 2>/dev/null <"$1/process" && [ "$(started_at "$pid")" = "$start" ]
}

# The processes whose mark matches the pattern $1, their sessions, and all their descendants. First their groups, as negative
# numbers: a group gets a signal at once, so that no shell sees its child die before itself.
processes_of() {
  local marked
  marked=$(grep -lzE -e "^SANDBOX_COMMAND=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | tr '\n' ' ')
  cat /proc/[0-9]*/stat 2>/dev/null | awk -v marked="$marked" '
    BEGIN { count = split(marked, pids, " "); for (i = 1; i <= count; i++) found[pids[i]] = 1 }
    { pid = $1; sub(/^.*\) /, ""); if ($1 != "Z" && $1 != "X") { parent[pid] = $2; group[pid] = $3; session[pid] = $4 } }
    END {
      do {
        grown = 0
        for (pid in parent) if (!(pid in found) && ((parent[pid] in found) || (session[pid] in found))) { found[pid] = 1; grown = 1 }
      } while (grown)
      for (pid in found) if (pid in parent && !(group[pid] in shown)) { shown[group[pid]] = 1; print -group[pid] }
      for (pid in found) if (pid in parent) print pid
    }'
}
