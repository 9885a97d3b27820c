import type { SandboxLabels } from './sandbox-provider';

const names = ['install', 'account', 'thread', 'run', 'epoch'] as const satisfies (keyof SandboxLabels)[];

/** The labels of ours among those that a sandbox has at a service. */
export const labelsIn = (given: Readonly<Record<string, string>>): SandboxLabels =>
  Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));

/** Whether a sandbox has all of the wanted labels, with these values. */
export const hasLabels = (labels: SandboxLabels, wanted: Partial<SandboxLabels>): boolean =>
  names.every((name) => wanted[name] === undefined || labels[name] === wanted[name]);
