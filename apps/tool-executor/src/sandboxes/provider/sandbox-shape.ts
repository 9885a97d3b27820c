import { createHash } from 'node:crypto';
import { type EnvironmentPackages, type SandboxSize, type SandboxTerms, whyNotForSandbox } from '@rondo/contract';
import { isAllowedImage } from '@rondo/domain';
import { SandboxError } from './sandbox-error';
import type { PackageSettings, SandboxSettings } from './sandbox-settings';

/** What a sandbox is made like where its run asks for another one than the deployment's. */
export type SandboxShape = Omit<SandboxTerms, 'egress'>;

const mebibyte = 1024 * 1024;

type Limits = Pick<SandboxSettings, 'cpu' | 'memoryBytes' | 'diskBytes'>;

/** The settings with the limits of the size in place of theirs. */
export const withSize = (
  settings: SandboxSettings,
  { cpus, memory_mb, disk_mb }: SandboxSize = {},
): SandboxSettings => ({
  ...settings,
  ...(cpus !== undefined && { cpu: cpus }),
  ...(memory_mb !== undefined && { memoryBytes: memory_mb * mebibyte }),
  ...(disk_mb !== undefined && { diskBytes: disk_mb * mebibyte }),
});

/** What a machine has. */
export interface HostSize {
  readonly cpus: number;
  readonly memoryBytes: number;
}

/** The most that a sandbox may have on this deployment, and no more than its host has. */
export const toLargestSize = ({ cpu, memoryBytes, diskBytes }: Limits, host?: HostSize) => ({
  cpus: Math.min(cpu, host?.cpus ?? Infinity),
  memory_mb: Math.floor(Math.min(memoryBytes, host?.memoryBytes ?? Infinity) / mebibyte),
  disk_mb: Math.floor(diskBytes / mebibyte),
});

const sizeSettings = {
  cpus: 'SANDBOX_CPU, and the processor cores of their host',
  memory_mb: 'SANDBOX_MEMORY_MB, and the memory of their host',
  disk_mb: 'SANDBOX_DISK_MB',
} as const;

interface OfferedSize {
  readonly most: SandboxSize;
  readonly step?: SandboxSize;
  /** What the operator sets the most by, also where none is set. Absent: what has no most here cannot be given one. */
  readonly settings?: Readonly<Record<keyof SandboxSize, string>>;
}

/** Rejects a size that sandboxes are not held to, or that is above what they have at most. */
export function requireSize(size: SandboxSize, { most, step = {}, settings }: OfferedSize): void {
  for (const field of ['cpus', 'memory_mb', 'disk_mb'] as const) {
    const { [field]: asked } = size;
    const { [field]: limit } = most;
    const reason = asked === undefined ? undefined : whyNotForSandbox(asked, limit, step[field]);
    if (asked === undefined || reason === undefined) continue;
    const couldHelp = limit === undefined ? settings !== undefined : asked > limit;
    throw refuseShape(`size.${field}`, couldHelp ? `${reason} (${(settings ?? sizeSettings)[field]})` : reason);
  }
}

export const refuseShape = (field: string, reason: string): SandboxError =>
  new SandboxError('unsupported', `Not executed: the environment of the run names \`${field}\`: ${reason}.`);

/** Rejects an image that the operator does not let runs choose. */
export function requireImage(image: string, allowed: readonly string[]): void {
  if (!isAllowedImage(image, allowed))
    throw refuseShape('image', `${image} is not among those that this deployment allows (SANDBOX_IMAGES)`);
}

/** Rejects packages of a kind that the operator does not let runs install. */
export function requirePackages(packages: EnvironmentPackages, { kinds }: Pick<PackageSettings, 'kinds'>): void {
  for (const kind of ['apt', 'pip', 'npm'] as const)
    if (packages[kind] && !kinds.includes(kind))
      throw refuseShape(`packages.${kind}`, 'this deployment installs none of them (SANDBOX_PACKAGES)');
}

/** Equal for equal shapes: a schema has put their fields in order. */
export const hashShape = (shape: SandboxShape): string =>
  createHash('sha256').update(JSON.stringify(shape)).digest('hex').slice(0, 32);

/** How sandboxes of threads are to be made at their next boots. */
export class SandboxShapes {
  private readonly shapes = new Map<string, SandboxShape>();

  find(threadId: string): SandboxShape | undefined {
    return this.shapes.get(threadId);
  }

  set(threadId: string, shape: SandboxShape | undefined): void {
    if (shape && Object.keys(shape).length > 0) this.shapes.set(threadId, shape);
    else this.shapes.delete(threadId);
  }
}
