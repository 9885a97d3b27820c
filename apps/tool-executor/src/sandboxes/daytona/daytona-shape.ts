import type { SandboxSize } from '@rondo/contract';
import { isSameImage } from '@rondo/domain';
import { type SandboxShape, refuseShape, requireImage, requireSize } from '../provider/sandbox-shape';
import type { DaytonaSettings } from '../provider/daytona-settings';

type Resources = DaytonaSettings['resources'];

const megabytes = 1024;

const fields = [
  { field: 'cpus', resource: 'cpu', unit: 1, setting: 'DAYTONA_CPU' },
  { field: 'memory_mb', resource: 'memory', unit: megabytes, setting: 'DAYTONA_MEMORY_GB' },
  { field: 'disk_mb', resource: 'disk', unit: megabytes, setting: 'DAYTONA_DISK_GB' },
] as const;

const byField = <Key extends 'unit' | 'setting'>(key: Key) =>
  Object.fromEntries(fields.map((row) => [row.field, row[key]])) as Record<
    keyof SandboxSize,
    (typeof fields)[number][Key]
  >; // the table has every field

/** Daytona takes whole numbers of its units. */
export const sizeStep: SandboxSize = byField('unit');

const settings = byField('setting');

/** Rejects what Daytona cannot make a sandbox of, and what is above the deployment's limits. */
export function requireDaytonaShape(
  { size, image, packages }: SandboxShape,
  {
    own,
    allowed,
    resources,
  }: { readonly own: string | undefined; readonly allowed: readonly string[]; readonly resources: Resources },
): void {
  const isOwn = image !== undefined && own !== undefined && isSameImage(image, own);
  if (packages)
    throw refuseShape('packages', 'sandboxes at Daytona install none; make an image or a snapshot of yours');
  if (image !== undefined && !isOwn) requireImage(image, allowed);
  if (!size) return;
  if ((image ?? own) === undefined)
    throw refuseShape('size', 'Daytona takes one with DAYTONA_IMAGE only, and a snapshot has its own');
  requireSize(size, { most: toLargestSize(resources), step: sizeStep, settings });
}

/** The most that a sandbox may have here, of what Daytona is told a limit of. */
export const toLargestSize = (resources: Resources): SandboxSize =>
  Object.fromEntries(
    fields.flatMap(({ field, resource, unit }) => {
      const most = resources[resource];
      return most === undefined ? [] : [[field, most * unit]];
    }),
  );

export function toResources(size: SandboxSize = {}): Resources {
  const given = fields.map(({ field, resource, unit }): Resources => {
    const asked = size[field];
    return asked === undefined ? {} : { [resource]: asked / unit };
  });
  return Object.assign({}, ...given) as Resources;
}
