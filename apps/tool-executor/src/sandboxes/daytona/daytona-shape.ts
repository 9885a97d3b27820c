import type { SandboxSize } from '@rondo/contract';
import { isSameImage } from '@rondo/domain';
import { type SandboxShape, refusedShape, requireImage } from '../provider/sandbox-shape';
import type { DaytonaSettings } from '../provider/daytona-settings';

type Resources = DaytonaSettings['resources'];

const megabytes = 1024;

const fields = [
  { field: 'cpus', resource: 'cpu', setting: 'DAYTONA_CPU', unit: 1, whole: 'a whole number' },
  {
    field: 'memory_mb',
    resource: 'memory',
    setting: 'DAYTONA_MEMORY_GB',
    unit: megabytes,
    whole: 'a multiple of 1024',
  },
  { field: 'disk_mb', resource: 'disk', setting: 'DAYTONA_DISK_GB', unit: megabytes, whole: 'a multiple of 1024' },
] as const;

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
    throw refusedShape('packages', 'sandboxes at Daytona install none; make an image or a snapshot of yours');
  if (image !== undefined && !isOwn) requireImage(image, allowed);
  if (!size) return;
  if ((image ?? own) === undefined)
    throw refusedShape('size', 'Daytona takes one with DAYTONA_IMAGE only, and a snapshot has its own');
  for (const { field, resource, setting, unit, whole } of fields) {
    const asked = size[field];
    if (asked === undefined) continue;
    const most = resources[resource];
    if (asked % unit !== 0) throw refusedShape(`size.${field}`, `for Daytona it must be ${whole}`);
    if (most === undefined) throw refusedShape(`size.${field}`, `this deployment names no limit of it (${setting})`);
    if (asked > most * unit)
      throw refusedShape(
        `size.${field}`,
        `it is ${asked}, and sandboxes here have at most ${most * unit} (${setting})`,
      );
  }
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
