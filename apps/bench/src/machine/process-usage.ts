import { readFileSync, readdirSync } from 'node:fs';
import type { RunningRondo } from '@rondo/test-deployment';

interface ProcessEntry {
  readonly parent: number;
  /** User and system time, including that of children that have ended. */
  readonly cpuMs: number;
  readonly residentBytes: number;
}

const tickMs = 10; // the kernel reports CPU time in hundredths of a second
const pageBytes = 4096;

/** A snapshot of all processes of this machine, read from /proc. */
export class ProcessTable {
  private constructor(private readonly entries: ReadonlyMap<number, ProcessEntry>) {}

  static read(): ProcessTable {
    const ids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    return new ProcessTable(
      new Map(
        ids.flatMap((id) => {
          const entry = readEntry(id);
          return entry ? [[id, entry] as const] : [];
        }),
      ),
    );
  }

  /** CPU time of a process and its descendants. */
  cpuMs(root: number): number {
    return this.sum(root, ({ cpuMs }) => cpuMs);
  }

  /** Resident memory of a process and its descendants; shared pages count for each of them. */
  residentBytes(root: number): number {
    return this.sum(root, ({ residentBytes }) => residentBytes);
  }

  private sum(root: number, of: (entry: ProcessEntry) => number): number {
    const own = this.entries.get(root);
    if (!own) return 0;
    const children = [...this.entries].filter(([, { parent }]) => parent === root);
    return children.reduce((total, [id]) => total + this.sum(id, of), of(own));
  }
}

function readEntry(id: number): ProcessEntry | undefined {
  try {
    const afterName = readFileSync(`/proc/${id}/stat`, 'utf8').split(') ').at(-1)?.split(' ').map(Number) ?? [];
    const field = (number: number) => afterName[number - 3] ?? 0; // numbered as in proc(5); the first two are cut off
    return {
      parent: field(4),
      cpuMs: (field(14) + field(15) + field(16) + field(17)) * tickMs,
      residentBytes: field(24) * pageBytes,
    };
  } catch {
    return undefined; // it has ended meanwhile
  }
}

/** CPU time of each service and server, in ms. */
export function readCpuMs({ services, infrastructure }: RunningRondo): Record<string, number> {
  const table = ProcessTable.read();
  const programs = [...services.all, ...infrastructure.servers];
  return Object.fromEntries(programs.map(({ name, pid }) => [name, pid === undefined ? 0 : table.cpuMs(pid)]));
}

/** Resident memory of each service, in MB. Servers are left out, since processes of Postgres share theirs. */
export function readResidentMb({ services }: RunningRondo): Record<string, number> {
  const table = ProcessTable.read();
  return Object.fromEntries(
    services.all.map(({ name, pid }) => [name, pid === undefined ? 0 : table.residentBytes(pid) / 1e6]),
  );
}

type Times = Readonly<Record<string, number>>;

export const computeSum = (times: Times): number => Object.values(times).reduce((sum, ms) => sum + ms, 0);

/** CPU time of each process between two readings, divided by the amount of work. */
export const toSpentPer = (pieces: number, before: Times, after: Times): Record<string, number> =>
  Object.fromEntries(Object.keys(after).map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / pieces]));
