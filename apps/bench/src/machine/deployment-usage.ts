import type { RunningRondo } from '@rondo/test-deployment';
import { ProcessTable } from './process-usage';

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
