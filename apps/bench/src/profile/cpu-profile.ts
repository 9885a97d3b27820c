import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** A profile as V8 writes it. */
interface CpuProfile {
  readonly nodes: readonly { id: number; callFrame: Frame; children?: readonly number[] }[];
  readonly samples: readonly number[];
}

export interface Cost {
  readonly where: string;
  /** Of the time in which the process was not idle. */
  readonly share: number;
}

/** A sampled function with its callers, the nearest first. */
type Stack = readonly [Frame, ...Frame[]];

/** Idle time, and the profiler itself. */
const notCounted = new Set(['(idle)', 'dispatch']);

/** The functions in which a process spent its time, without their callees, in descending order. */
export function largestCosts(file: string, count: number): Cost[] {
  return sumCosts(read(file), ([own]) => toName(own)).slice(0, count);
}

/** The same by package; time in Node's own code counts for the package that called it. */
export function packageCosts(file: string, count: number): Cost[] {
  return sumCosts(read(file), (stack) => {
    const owner = stack.map(({ url }) => findPackage(url)).find((name) => name !== undefined);
    return owner ?? (stack[0].functionName || '(Node)');
  }).slice(0, count);
}

const read = (file: string): CpuProfile => JSON.parse(readFileSync(file, 'utf8')) as CpuProfile; // Node itself wrote it

/** Counts samples instead of adding up their times, because another process may have had the core between two samples. */
function sumCosts({ nodes, samples }: CpuProfile, toLabel: (stack: Stack) => string): Cost[] {
  const stacks = toStacks(nodes);
  const labels = new Map<number, string>();
  const found = new Map<string, number>();
  let all = 0;
  for (const sample of samples) {
    const stack = stacks(sample);
    if (!stack || notCounted.has(stack[0].functionName)) continue;
    const label = labels.get(sample) ?? toLabel(stack);
    labels.set(sample, label);
    found.set(label, (found.get(label) ?? 0) + 1);
    all += 1;
  }
  return [...found].toSorted(([, a], [, b]) => b - a).map(([where, count]) => ({ where, share: count / all }));
}

function toStacks(nodes: CpuProfile['nodes']): (id: number) => Stack | undefined {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  return (id) => {
    const own = frames.get(id);
    const above: Frame[] = [];
    for (let at = callers.get(id); at !== undefined; at = callers.get(at)) {
      const frame = frames.get(at);
      if (frame) above.push(frame);
    }
    return own && [own, ...above];
  };
}

function toName({ functionName, url, lineNumber }: Frame): string {
  const name = functionName || '(anonymous)';
  return url === '' ? name : `${name} ${toPlace(url)}:${lineNumber + 1}`;
}

/** The path below the last node_modules, or below the repository. */
function toPlace(url: string): string {
  const inPackage = /.*\/node_modules\/(.+)/.exec(url)?.[1];
  return inPackage ?? /\/((?:apps|libs)\/.+)/.exec(url)?.[1] ?? basename(url);
}

function findPackage(url: string): string | undefined {
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  return inPackage ?? /\/((?:apps|libs)\/[^/]+)\//.exec(url)?.[1];
}
