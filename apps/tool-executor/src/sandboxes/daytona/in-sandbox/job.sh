# The latest background job of a session, or of every one (`*`): what was noted of it when it started, a line of base64 each.
for own in $root/sessions/$session; do
  key=
  IFS= read -r -d '' key 2>/dev/null <"$own/job"
  [ -n "$key" ] && base64 -w0 "$root/commands/$key/meta" 2>/dev/null && echo
done
exit 0
