# Writes to the standard input of a command, once for each request. Prints `ok`, `closed`, or `full`.
directory=$root/commands/$key
[ -p "$directory/input" ] && is_alive "$directory" || { echo closed; exit; }
mkdir "$directory/input-$request" 2>/dev/null || { echo ok; exit; }
printf %s "$content" | base64 -d | timeout 2 bash -c 'cat >"$1"' bash "$directory/input" && echo ok || echo full
