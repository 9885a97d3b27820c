import { type NewMessage, fileId } from '@rondo/contract';
import { z } from 'zod';

/** What a message says of a file that came with it, in `metadata.files`. */
const runFileNote = z.object({ file_id: fileId, name: z.string(), path: z.string() });
export type RunFileNote = z.infer<typeof runFileNote>;

const workspace = '/workspace';
const metadata = z.object({ files: z.array(runFileNote) });

/** Tells the model where the files are, in the words that the system behind its profile used. */
export const writeFilesNote = (files: readonly RunFileNote[], profile: string): string =>
  profile === 'ii'
    ? `Attached files:\n${files.map(({ path }) => ` - ${workspace}/${path}`).join('\n')}`
    : files.map(({ path }) => `[Uploaded File: ${workspace}/${path}]`).join('\n');

/** A file that is not where the message says. */
export interface FileProblem {
  readonly path: string;
  /** Where it is instead. */
  readonly movedTo?: string;
  readonly problem: string;
}

export const writeProblemsNote = (problems: readonly FileProblem[]): string =>
  problems
    .map(({ path, movedTo, problem }) =>
      movedTo === undefined
        ? `[Failed to store ${workspace}/${path}: ${problem}]`
        : `[Uploaded File: ${workspace}/${movedTo}, not ${workspace}/${path}: ${problem}]`,
    )
    .join('\n');

/** The files that came with a message. */
export const filesIn = (message: Pick<NewMessage, 'metadata'>): readonly RunFileNote[] =>
  metadata.safeParse(message.metadata).data?.files ?? [];

export const bringsFiles = (message: Pick<NewMessage, 'metadata'>): boolean =>
  metadata.safeParse(message.metadata).success;

/** `name`, or `name-2`, `name-3` … before its extension, whichever comes first of those that are not taken. */
export function findFreeName(name: string, isTaken: (name: string) => boolean): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${stem}-${count}${extension}`;
    if (!isTaken(candidate)) return candidate;
  }
}
