#!/bin/sh
# measured.sh COMMAND… runs the command and then prints the CPU time of all its processes, the time
# that passed, and the machine's load before it began. CPU time hardly depends on other work.
load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || sysctl -n vm.loadavg | cut -d ' ' -f 2)
began=$(date +%s)
"$@"
status=$?
list=$(mktemp)
times >"$list" # in this shell: a pipe or $(times) would have none of the children's
awk -F '[ms ]+' -v wall=$(($(date +%s) - began)) -v load="$load" '
  NR == 2 { printf "%.1f CPU minutes in %d min %d s; the load before was %s\n", $1 + $2/60 + $3 + $4/60, wall/60, wall%60, load }' "$list"
rm -f "$list"
exit $status
