# Prints `listening` where a process of the sandbox accepts connections on the port, else `nothing`.
for host in 127.0.0.1 ::1; do
  (exec 3<>"/dev/tcp/$host/$port") 2>/dev/null && { echo listening; exit; }
done
echo nothing
