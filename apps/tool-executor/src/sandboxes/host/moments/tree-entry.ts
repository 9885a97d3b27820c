import { readJson } from '@rondo/contract';
import { z } from 'zod';
import type { Name } from './beneath';
import { sha256 } from './copy-content';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const mode = z.number().int().min(0).max(0o7777);
const count = z.number().int().min(0);

/** Where the content of a short file lies: in another content, behind so many bytes. */
export interface Place {
  readonly content: string;
  readonly offset: number;
}

/** Times of change are in milliseconds. `hard`: a hard link to the file with that path, which comes before it. */
const treeEntry = z.discriminatedUnion('kind', [
  z.object({ name: z.string(), kind: z.literal('directory'), mode, tree: hash }),
  z.object({
    name: z.string(),
    kind: z.literal('file'),
    mode,
    changed: z.number(),
    size: z.number(),
    content: hash,
    hard: z.string().optional(),
  }),
  z.object({ name: z.string(), kind: z.literal('link'), target: z.string() }),
]);
type Listed = z.infer<typeof treeEntry>;
/** `place`: where its content does not lie alone. Two entries are the same file whatever their places are. */
export type FileEntry = Extract<Listed, { kind: 'file' }> & { place?: Place | undefined };
export type TreeEntry = Exclude<Listed, { kind: 'file' }> | FileEntry;
const tree = z.array(treeEntry);
/** By the content that they lie in: the positions in the list, and the bytes before each. */
const placed = z.record(hash, z.array(z.tuple([count, count])));

/** The hash of the content in which that of the file lies. */
export const toStored = ({ content, place }: Pick<FileEntry, 'content' | 'place'>): string => place?.content ?? content;

export const placeInTree = (directory: Name, name: Name): Name => (directory === '' ? name : `${directory}/${name}`);

/** What is the same for the same entries. Times of files alone can be no difference. */
export const toIdentity = (entry: TreeEntry | undefined, { withTime = true } = {}): string =>
  JSON.stringify({ ...entry, place: undefined, ...(!withTime && { changed: undefined }) });

/** The line of a list that its hash is of. */
export const toListed = (entries: readonly TreeEntry[]): string =>
  JSON.stringify(entries.map((entry) => ('place' in entry ? { ...entry, place: undefined } : entry)));

/** The list, and in a second line where its short files lie. The first writer decides that, so it has no part in the hash. */
export function toTreeBytes(entries: readonly TreeEntry[]): Buffer {
  const places: Record<string, [number, number][]> = {};
  entries.forEach((entry, index) => {
    if ('place' in entry && entry.place) (places[entry.place.content] ??= []).push([index, entry.place.offset]);
  });
  const lines = [toListed(entries), ...(Object.keys(places).length > 0 ? [JSON.stringify(places)] : [])];
  return Buffer.from(lines.join('\n'));
}

/** Undefined where it is not what has the hash. */
export function readTreeBytes(bytes: Buffer, root: string): TreeEntry[] | undefined {
  const end = bytes.indexOf('\n');
  const listed = end < 0 ? bytes : bytes.subarray(0, end);
  if (sha256(listed) !== root) return undefined;
  const entries: TreeEntry[] = tree.parse(JSON.parse(listed.toString()));
  if (end < 0) return entries;
  const { data: places } = placed.safeParse(readJson(bytes.subarray(end + 1).toString()));
  if (!places) return undefined;
  for (const [content, files] of Object.entries(places))
    for (const [index, offset] of files) {
      const entry = entries[index];
      if (entry?.kind === 'file') entry.place = { content, offset };
    }
  return entries;
}
