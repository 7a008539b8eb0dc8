#!/usr/bin/env bash
# A SLURM cluster of one small node on this machine, for the tests: no systemd, no
# accounting. As root: slurm.sh install | start FOLDER | stop FOLDER
set -euo pipefail

PROGRAMS=(slurmctld slurmd sbatch squeue scancel munged)

has_programs() {
  for program in "${PROGRAMS[@]}"; do
    command -v "$program" > /dev/null || return 1
  done
}

install_programs() {
  has_programs && return
  if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    echo "SLURM is not installed; it takes root on Debian or Ubuntu to install it" >&2
    return 1
  fi
  local packages=(slurmctld slurmd slurm-client munge)
  export DEBIAN_FRONTEND=noninteractive
  # Package lists may be missing or old: only then are they fetched anew.
  apt-get install -qq -y --no-install-recommends "${packages[@]}" > /dev/null 2>&1 ||
    { apt-get update -qq && apt-get install -qq -y --no-install-recommends \
      "${packages[@]}" > /dev/null; }
}

configure() {
  mkdir -p "$FOLDER"/{controller,node,log}
  cat > "$SLURM_CONF" << CONF
ClusterName=tests
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
DefMemPerCPU=500
ReturnToService=2
KillWait=5
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
StateSaveLocation=$FOLDER/controller
SlurmdSpoolDir=$FOLDER/node
SlurmctldPidFile=$FOLDER/slurmctld.pid
SlurmdPidFile=$FOLDER/slurmd.pid
SlurmctldLogFile=$FOLDER/log/slurmctld.log
SlurmdLogFile=$FOLDER/log/slurmd.log
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=tests Nodes=localhost Default=YES MaxTime=240 State=UP
CONF
}

wait_for() {
  for _ in $(seq 120); do
    "$@" > /dev/null 2>&1 && return
    sleep 0.25
  done
  echo "SLURM: waited 30 s in vain for: $*; see $FOLDER/log" >&2
  return 1
}

is_idle() { [ "$(sinfo --noheader --Node --format %T)" = idle ]; }

# The job step of Snakemake's plugin forgets SLURM_CONF: what it finds is this link.
link_configuration() {
  if [ -e "$LINK" ] && ! [ -L "$LINK" ]; then
    echo "$LINK is there: this machine belongs to a cluster; the tests are for others" >&2
    return 1
  fi
  mkdir -p "$(dirname "$LINK")"
  ln -sfn "$SLURM_CONF" "$LINK"
}

start() {
  link_configuration
  configure
  install -d -o munge -g munge -m 0755 /run/munge
  pgrep -x munged > /dev/null || runuser -u munge -- /usr/sbin/munged
  slurmctld
  wait_for scontrol ping
  slurmd -N localhost
  wait_for is_idle
}

# Munge stays: others on the machine may use it.
stop() {
  for daemon in slurmd slurmctld; do
    if [ -f "$FOLDER/$daemon.pid" ]; then kill "$(cat "$FOLDER/$daemon.pid")" || true; fi
  done
  if [ "$(readlink "$LINK")" = "$SLURM_CONF" ]; then rm "$LINK"; fi
}

LINK=/etc/slurm/slurm.conf
FOLDER=${2:-}
export SLURM_CONF=$FOLDER/slurm.conf
case $1 in
  install) install_programs ;;
  start) start ;;
  stop) stop ;;
esac
