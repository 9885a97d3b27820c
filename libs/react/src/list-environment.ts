import type { WorkspacePreparing } from '@rondo/client';

type Prepared = WorkspacePreparing['data'];

/** An environment of an agent or a run, or what the log of a run says of its own. */
interface NamedEnvironment extends Pick<Prepared, 'image' | 'packages' | 'size'> {
  readonly repository?: { readonly path?: string; readonly url?: string } | null;
  readonly files?: readonly unknown[];
  readonly egress?: readonly string[] | null;
}

const mostNames = 5;

/** What an environment names, for people: what takes long to prepare is first. */
export function listEnvironment({ image, packages, repository, files, size, egress }: NamedEnvironment): string[] {
  const names = Object.values(packages ?? {}).flat();
  const limits = size ? listLimits(size) : [];
  return [
    ...(image === undefined ? [] : [`the image ${image}`]),
    ...(names.length === 0 ? [] : [`${names.length === 1 ? 'the package' : 'the packages'} ${shortenNames(names)}`]),
    ...(repository
      ? [`the repository ${repository.path === undefined ? repository.url : `in ${repository.path}`}`]
      : []),
    ...(files && files.length > 0 ? [countNoun(files.length, 'file')] : []),
    ...(limits.length === 0 ? [] : [`at most ${limits.join(', ')}`]),
    ...(egress ? [`its network reaches ${egress.join(', ') || 'nothing'}`] : []),
  ];
}

const listLimits = ({ cpus, memory_mb: memory, disk_mb: disk }: NonNullable<Prepared['size']>): string[] => [
  ...(cpus === undefined ? [] : [countNoun(cpus, 'core')]),
  ...(memory === undefined ? [] : [`${memory} MiB of memory`]),
  ...(disk === undefined ? [] : [`${disk} MiB of disk`]),
];

const shortenNames = (names: readonly string[]): string =>
  [...names.slice(0, mostNames), ...(names.length > mostNames ? [`${names.length - mostNames} more`] : [])].join(', ');

const countNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
