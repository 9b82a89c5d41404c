#!/usr/bin/env bash
# Runs deploy/slurm.sh on a real controller and node of this machine, as root, with what Debian's slurm-wlm and munge hold:
# a task of map is requeued while it runs, the program of one of write killed with -9. check_slurm.sh ARENA DAY
set -euo pipefail
arena=$(realpath "$1") day=$(realpath "$2") deploy=$(cd "$(dirname "$0")/../../deploy" && pwd)
at=$(mktemp -d)
host=$(hostname -s)
chmod 755 "$at" && mkdir "$at/state" "$at/spool" "$at/munge"
export SLURM_CONF=$at/slurm.conf
cat >"$SLURM_CONF" <<CONF
ClusterName=check
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$at/munge/socket
CredType=cred/munge
StateSaveLocation=$at/state
SlurmdSpoolDir=$at/spool
SlurmctldPidFile=$at/slurmctld.pid
SlurmdPidFile=$at/slurmd.pid
SlurmctldLogFile=$at/slurmctld.log
SlurmdLogFile=$at/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=batch_sched_delay=1,sched_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
pids=()
stop() {
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
  wait
  rm -rf "$at"
}
trap 'code=$?; [ $code = 0 ] || cat "$at"/starts "$at"/stages/logs/* "$at"/slurm*.log | tail -40; stop' EXIT
dd if=/dev/urandom of="$at/munge/key" bs=128 count=1 status=none
chmod 600 "$at/munge/key"
munged -F --force --key-file="$at/munge/key" --socket="$at/munge/socket" --pid-file="$at/munge/pid" --log-file="$at/munge/log" --seed-file="$at/munge/seed" 2>/dev/null &
pids+=($!)
sleep 1
slurmctld -D 2>/dev/null &
pids+=($!)
slurmd -D -N "$host" 2>/dev/null &
pids+=($!)
for _ in $(seq 60); do [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break; sleep 0.5; done
sinfo

# Each task says when it begins. The first of map waits to be requeued, that of write is killed.
cat >"$at/arena" <<WRAP
#!/usr/bin/env bash
echo "\$SLURM_JOB_ID \$2 \${SLURM_ARRAY_TASK_ID:-} \${SLURM_RESTART_COUNT:-0} \$\$" >>$at/starts
case "\$2 \${SLURM_ARRAY_TASK_ID:-} \${SLURM_RESTART_COUNT:-0}" in
"map 0 0") $arena "\$@" & sleep 0.05; touch $at/map; sleep 60 ;;
"write 0 0") $arena "\$@" & sleep 0.05; kill -9 \$!; wait \$!; exit ;;
esac
exec $arena "\$@"
WRAP
chmod 755 "$at/arena"
export ARENA=$at/arena
"$arena" build "$day" -o "$at/whole" -q
"$arena" build "$day" -o "$at/out" --plan "$at/plan" --shards 4 -q
"$deploy/slurm.sh" "$at/plan" "$at/stages" -n1

for _ in $(seq 300); do [ -e "$at/map" ] && break; sleep 0.1; done
scontrol requeue "$(awk '$2 == "map" && $3 == 0 {print $1}' "$at/starts")"
for _ in $(seq 240); do # a requeued job would wait for two minutes
  left=$(squeue -h -r -o %A 2>/dev/null | sort -u)
  [ -n "$left" ] || break
  for job in $(squeue -h -t PD -o "%A %r" | awk '$2 == "BeginTime" {print $1}'); do sleep 3; scontrol update "job=$job" StartTime=now || true; done
  sleep 0.5
done
cat "$at/starts"
cat "$at"/stages/logs/* | sort | uniq -c
"$arena" verify "$at/out" -q
diff -r "$at/whole" "$at/out" && echo "Slurm $(slurmctld -V | cut -d' ' -f2): every file is that of one build"
