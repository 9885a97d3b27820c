import { readFileSync, readdirSync } from 'node:fs';

/** A process as the host sees it. */
export interface HostProcess {
  pid: number;
  parent: number;
  name: string;
  /** Since the boot of the machine. Together with the pid it identifies a process. */
  startTicks: number;
}

const ticksPerSecond = 100;

/** Undefined when it has ended, also when it is a zombie. */
export function readProcess(pid: number): HostProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')'); // The name may contain spaces and brackets.
    const fields = stat.slice(end + 2).split(' ');
    if (/^[ZX]/.test(fields[0] ?? '')) return undefined;
    const name = stat.slice(stat.indexOf('(') + 1, end);
    return { pid, parent: Number(fields[1]), name, startTicks: Number(fields[19]) };
  } catch {
    return undefined;
  }
}

export function listChildren(pid: number): HostProcess[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return pids.map(readProcess).filter((found) => found !== undefined);
}

/** The children of every live process of the host. */
export type ProcessTable = ReadonlyMap<number, readonly HostProcess[]>;

/** Reads a file for each process of the host, so concurrent checks should share one table. */
export function readProcessTable(): ProcessTable {
  const children = new Map<number, HostProcess[]>();
  for (const name of readdirSync('/proc')) {
    const found = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined;
    if (!found) continue;
    const siblings = children.get(found.parent);
    if (siblings) siblings.push(found);
    else children.set(found.parent, [found]);
  }
  return children;
}

/** Every live process below another: those of its namespace, where that one is the namespace's first. */
export function listDescendants(ancestor: number, table: ProcessTable = readProcessTable()): HostProcess[] {
  const below = [...(table.get(ancestor) ?? [])];
  for (const found of below) below.push(...(table.get(found.pid) ?? []));
  return below;
}

export function ticksToDate(startTicks: number): Date {
  const uptimeSeconds = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  return new Date(Date.now() - (uptimeSeconds - startTicks / ticksPerSecond) * 1000);
}
