import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { percentile } from '../statistics';

/** A message that a service sent or received. */
export interface TraceNote {
  /** By `nowMs`. */
  readonly atMs: number;
  /** CPU time of the process so far. */
  readonly cpuMs: number;
  readonly what: string;
}

interface Hop {
  readonly service: string;
  readonly what: string;
  /** Since the run was submitted. */
  readonly atMs: number;
  /** What the process spent since its previous message, or since the run was submitted. */
  readonly cpuMs: number;
}

const begin = /^← (POST \/v1\/runs$|socket run\.create)/;

/** The hops that most of the runs made, in their order, as medians. `begins` says how the runs of the table were submitted. */
export function describeTrace(files: readonly string[], begins: string): string {
  const services = files.map((file) => ({
    service: basename(file, '.trace.json'),
    notes: JSON.parse(readFileSync(file, 'utf8')) as TraceNote[], // inside/trace.ts wrote it
  }));
  const starts = services.flatMap(({ notes }) => notes.filter(({ what }) => begin.test(what)));
  const windows = starts
    .map(({ atMs, what }, index) => ({ what, from: atMs, to: starts[index + 1]?.atMs ?? Infinity }))
    .filter(({ what }) => what === begins);
  const hops = new Map<string, Hop[]>();
  for (const window of windows) {
    for (const { key, hop } of numberHops(services.flatMap(({ service, notes }) => toHops(service, notes, window))))
      hops.set(key, [...(hops.get(key) ?? []), hop]);
  }
  const usual = [...hops.values()].filter(({ length }) => length > windows.length / 2);
  const lines = usual
    .map(toMedian)
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ atMs, service, what, cpuMs }) => `| ${atMs.toFixed(2)} | ${service} | ${what} | ${cpuMs.toFixed(2)} |`);
  const head = `| ms after ${begins} | service | hop | its CPU since its last hop, ms |`;
  return [head, '|---|---|---|---|', ...lines].join('\n');
}

const toMedian = (same: readonly Hop[]): Hop => ({
  service: same[0]?.service ?? '',
  what: same[0]?.what ?? '',
  atMs: percentile(
    same.map(({ atMs }) => atMs),
    50,
  ),
  cpuMs: percentile(
    same.map(({ cpuMs }) => cpuMs),
    50,
  ),
});

function toHops(service: string, notes: readonly TraceNote[], { from, to }: { from: number; to: number }): Hop[] {
  const before = notes.findLast(({ atMs }) => atMs < from);
  const within = notes.filter(({ atMs }) => atMs >= from && atMs < to);
  return within.map(({ atMs, cpuMs, what }, index) => ({
    service,
    what,
    atMs: atMs - from,
    cpuMs: cpuMs - ((within[index - 1] ?? before)?.cpuMs ?? cpuMs),
  }));
}

/** The second hop of a kind in a run is another one than the first. */
function* numberHops(run: readonly Hop[]): Generator<{ key: string; hop: Hop }> {
  const seen = new Map<string, number>();
  for (const hop of run) {
    const kind = `${hop.service} ${hop.what}`;
    const count = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, count);
    yield { key: `${kind} ${count}`, hop };
  }
}
