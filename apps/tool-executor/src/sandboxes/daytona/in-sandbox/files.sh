# One operation on a file. Prints `ok` and its answer, or the code of an error.
export LC_ALL=C
umask 022

fail() {
  echo "$1"
  exit
}

# A request that is repeated because its answer was lost finds that it was done.
done_once() {
  mkdir -p "$root/done" && : >"$root/done/$request"
  find "$root/done" -type f -mmin +10 -delete 2>/dev/null
  echo ok
}

# Sets `real` to the file that a path leads to, through all links.
resolve() {
  local reason
  real=$(realpath -e -- "$1" 2>/dev/null; echo .)
  real=${real%.} real=${real%$'\n'}
  [ -n "$real" ] && return
  reason=$(realpath -e -- "$1" 2>&1)
  case $reason in
    *'Too many levels'* | *'name too long'*) fail invalid_path ;;
    *'Not a directory'*) fail not_a_directory ;;
    *'No such file'*) fail not_found ;;
    *) fail failed ;;
  esac
}

read_file() {
  resolve "$path"
  [ -f "$real" ] || fail not_a_file
  about=$(stat -c '%s %d %i' -- "$real") || fail failed
  size=${about%% *}
  [ -z "$length" ] && [ "$size" -gt "$most" ] && fail "too_large $size"
  echo "ok $about"
  tail -c "+$((offset + 1))" -- "$real" | head -c "${length:-$most}" | base64 -w0
}

write_file() {
  if [ "$mode" = replace ]; then
    resolve "$path"
  else
    real=$(realpath -e -- "$path" 2>/dev/null; echo .)
    real=${real%.} real=${real%$'\n'}
    if [ -z "$real" ]; then
      mkdir -p -- "$(dirname -- "$path")" 2>/dev/null || fail not_a_directory
      real=$path
    elif [ "$mode" = create ]; then
      fail already_exists
    fi
  fi
  [ -e "$real" ] && ! [ -f "$real" ] && fail not_a_file
  [ -n "$permissions" ] || permissions=$(stat -c %a -- "$real" 2>/dev/null || echo 644)
  # A draft beside the target is moved at the end, so that no reader sees half a file.
  part=$(dirname -- "$real")/.$request.part
  trap 'rm -f -- "$part" "$uploaded"' EXIT
  if [ -n "$uploaded" ]; then cp -- "$uploaded" "$part" 2>/dev/null; else printf %s "$content" | base64 -d 2>/dev/null >"$part"; fi || fail full
  chmod -- "$permissions" "$part" || fail failed
  if [ "$mode" = create ]; then
    ln -- "$part" "$real" 2>/dev/null || fail already_exists
  else
    mv -fT -- "$part" "$real" 2>/dev/null || fail failed
  fi
  done_once
}

append_file() {
  umask 077
  truncate -s "$offset" "$draft" 2>/dev/null && printf %s "$content" | base64 -d 2>/dev/null >>"$draft" || fail full
  echo ok
}

discard_file() {
  rm -f -- "$draft"
  echo ok
}

delete_file() {
  resolve "$(dirname -- "$path")"
  [ -e "$path" ] || [ -L "$path" ] || fail not_found
  [ -d "$path" ] && ! [ -L "$path" ] && [ "$recursive" != 1 ] && fail not_a_file
  rm -rf -- "$path" 2>/dev/null || fail failed
  done_once
}

list_file() {
  resolve "$path"
  [ -d "$real" ] || fail not_a_directory
  echo ok
  find -P "$real" -mindepth 1 -maxdepth "$depth" -printf '%y %s %P\0' "${exclude[@]}" 2>/dev/null | head -z -n "$most" | base64 -w0
}

stat_file() {
  [ -e "$path" ] || [ -L "$path" ] || fail none
  echo "ok $(stat -c '%f %s %a %Y' -- "$path")"
}

[ -n "$request" ] && [ -e "$root/done/$request" ] && fail ok
"${operation}_file"
