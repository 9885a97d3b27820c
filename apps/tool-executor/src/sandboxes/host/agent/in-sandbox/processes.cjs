'use strict';
const { execFileSync } = require('node:child_process');
const { readdirSync, readFileSync } = require('node:fs');
const { setTimeout: delay } = require('node:timers/promises');

const killTimeoutMs = 2_000;

/** Every visible live process except this one. */
function processTable() {
  const table = process.platform === 'linux' ? processesInProc() : processesByPs();
  return table.filter((entry) => entry && entry.pid !== process.pid && !/^[ZX]/.test(entry.state));
}

function processesInProc() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(readProcess);
}

/** For other systems than Linux, where there is no isolation. */
function processesByPs() {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,state=,ppid=,pgid='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => {
    const [pid, state, parent, group] = line.trim().split(/\s+/);
    return { pid: Number(pid), state, parent: Number(parent), group: Number(group), session: Number(group) };
  });
}

/** The name in `stat` may contain spaces and brackets, so the fields start after the last bracket. */
function readProcess(name) {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid: Number(name), state, parent: Number(parent), group: Number(group), session: Number(session) };
  } catch {
    return undefined; // It has ended meanwhile.
  }
}

function carriesMark(pid, mark) {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(`\0${mark}\0`);
  } catch {
    return false;
  }
}

/**
 * The processes of a command: its group, its session, those that inherited its mark in the environment (so that a daemon that
 * has left group and session is found too), and all their descendants.
 */
function listCommandProcesses({ leader, mark }) {
  const table = processTable();
  const members = new Set();
  for (const { pid, group, session } of table) {
    if (group === leader || session === leader || carriesMark(pid, mark)) members.add(pid);
  }
  for (let found = -1; found !== members.size;) {
    found = members.size;
    for (const { pid, parent } of table) if (members.has(parent)) members.add(pid);
  }
  return [...members];
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended already.
  }
}

function signalAll(leader, pids, name) {
  signal(-leader, name); // The whole group at once: its members cannot fork faster than one signal to all of them.
  for (const pid of pids) signal(pid, name);
}

/** SIGTERM, the grace time, then SIGKILL. True only when the process table shows that none is left. */
async function endProcesses(command, graceMs) {
  const startedAt = performance.now();
  let alive = listCommandProcesses(command);
  if (alive.length > 0 && graceMs > 0) signalAll(command.leader, alive, 'SIGTERM');
  while (alive.length > 0 && performance.now() - startedAt < graceMs) {
    await delay(10);
    alive = listCommandProcesses(command);
  }
  const killingSince = performance.now();
  while (alive.length > 0 && performance.now() - killingSince < killTimeoutMs) {
    signalAll(command.leader, alive, 'SIGKILL');
    await delay(5);
    alive = listCommandProcesses(command);
  }
  return alive.length === 0;
}

/** Signals all processes of the namespace at once, except this one and the first. Only in a pid namespace of its own. */
function signalEveryone(name) {
  if (process.pid > 100) throw new Error('not in a pid namespace of its own');
  signal(-1, name);
  return {};
}

module.exports = { endProcesses, signalEveryone };
