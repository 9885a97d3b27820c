import {
  type AccountId,
  type FileId,
  type InputBlock,
  type RunId,
  type ThreadId,
  type UserBlock,
  inlineImage,
  largestImage,
  fileId,
} from '@rondo/contract';
import { type RunFileNote, TerminalError, writeFilesNote, findFreeName } from '@rondo/domain';
import type { Sql } from '../../database/sql';
import { type StoredFile, fileContent, toFile } from './files';
import { fileRow } from './upload';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';

/** The request refers to a file that its account does not have. */
export class UnknownFileError extends TerminalError {
  override readonly name = 'UnknownFileError';

  constructor(readonly field: string) {
    super('unknown_file', 'there is no such file');
  }
}

/** Images of one message together, since they are in memory until they are stored. */
const mostImageBytes = 2 * largestImage;

const selectFiles = createQuery(
  fileRow,
  `
select id, name, size, media_type, sha256, created_at from files
where account_id = $1 and id = any($2::text[]) and sha256 is not null`,
);

/** In the order of the request. Rejects with UnknownFileError. */
export async function readFiles(
  sql: Sql,
  accountId: AccountId,
  ids: readonly FileId[],
): Promise<readonly StoredFile[]> {
  if (ids.length === 0) return [];
  const files = (await selectFiles.all(sql, [accountId, ids])).map(toFile);
  return ids.map((id, index) => {
    const file = files.find((one) => one.id === id);
    if (!file) throw new UnknownFileError(`files.${index}`);
    return file;
  });
}

/** Those of the files that a model can see. Others, and images that are too large, are only in the workspace. */
export async function imagesAmong(sql: Sql, files: readonly StoredFile[]): Promise<InputBlock[]> {
  const blocks: InputBlock[] = [];
  let left = mostImageBytes;
  for (const file of files) {
    if (!file.media_type.startsWith('image/') || file.size > Math.min(largestImage, left)) continue;
    const parts: Buffer[] = [];
    for await (const part of fileContent(sql, file)) parts.push(part);
    const { data } = inlineImage.safeParse({
      media_type: file.media_type,
      data: Buffer.concat(parts).toString('base64'),
    });
    if (!data) continue;
    left -= file.size;
    blocks.push({ type: 'image', source: { type: 'base64', ...data } });
  }
  return blocks;
}

const selectPaths = createQuery(z.object({ path: z.string() }), `select path from run_files where thread_id = $1`);

/** Paths that no other upload of the thread has. Call it with the thread locked. */
export async function placeFiles(
  sql: Sql,
  threadId: ThreadId,
  files: readonly StoredFile[],
): Promise<readonly RunFileNote[]> {
  if (files.length === 0) return [];
  const taken = new Set((await selectPaths.all(sql, [threadId])).map(({ path }) => path));
  return files.map(({ id, name }) => {
    const path = findFreeName(workspaceName(name), (candidate) => taken.has(candidate));
    taken.add(path);
    return { file_id: id, name, path };
  });
}

const newRows = `
insert into run_files (run_id, thread_id, path, file_id)
select $1, $2, path, file_id from unnest($3::text[], $4::text[]) as given(path, file_id)`;

/** Records that the run gets them. Call it after the run was inserted. */
export async function insertRunFiles(
  sql: Sql,
  { runId, threadId }: { runId: RunId; threadId: ThreadId },
  placed: readonly RunFileNote[],
): Promise<void> {
  if (placed.length === 0) return;
  const values = [runId, threadId, placed.map(({ path }) => path), placed.map(({ file_id }) => file_id)];
  await sql.query(newRows, values);
}

const takeRows = `update run_files set run_id = $1 where thread_id = $2 and path = any($3::text[])`;

/** The run gets files of an earlier one of its thread, where they are: it is asked the same once more. */
export async function takeRunFiles(
  sql: Sql,
  { runId, threadId }: { runId: RunId; threadId: ThreadId },
  placed: readonly RunFileNote[],
): Promise<void> {
  if (placed.length > 0) await sql.query(takeRows, [runId, threadId, placed.map(({ path }) => path)]);
}

const notesOfRun = createQuery(
  z.object({ file_id: fileId, name: z.string(), path: z.string() }),
  `
select file_id, coalesce(name, path) as name, path from run_files left join files on files.id = file_id where run_id = $1 order by path`,
);

/** Of a run that was queued: its message is created when it is promoted. */
export const readFileNotes = (sql: Sql, runId: RunId): Promise<readonly RunFileNote[]> => notesOfRun.all(sql, [runId]);

/** The content of the message that brings the files. */
export const withNote = (
  content: readonly UserBlock[],
  placed: readonly RunFileNote[],
  profile: string,
): readonly UserBlock[] =>
  placed.length === 0 ? content : [...content, { type: 'text', text: writeFilesNote(placed, profile) }];

/** Of that message. */
export const fileMetadata = (placed: readonly RunFileNote[]) => (placed.length === 0 ? {} : { files: placed });

const longestName = 120;

/**
 * The name of a file in a workspace, from the name that a client gave: without directories, control characters and a leading
 * dot or dash, and short enough for every file system.
 */
export function workspaceName(given: string): string {
  const base = given.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const plain = base
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '') // also invisible characters, which could make two names look the same
    .trim()
    .replace(/^[.-]+/, '');
  return shorten(plain) || 'file';
}

/** File systems count bytes. The extension stays. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= longestName) return name;
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  const characters = Array.from(name.slice(0, name.length - extension.length));
  while (Buffer.byteLength(characters.join('')) > longestName - extension.length) characters.pop();
  return characters.join('') + extension;
}

/** A file that is to be written into the workspace of a run's thread. */
export interface FileToDeliver {
  readonly path: string;
  /** Undefined if it was deleted meanwhile. */
  readonly file: StoredFile | undefined;
}

const undeliveredRow = z.union([fileRow.extend({ path: z.string() }), z.object({ path: z.string(), id: z.null() })]);

const undelivered = createQuery(
  undeliveredRow,
  `
select path, id, name, size, media_type, sha256, created_at from run_files left join files on files.id = file_id and sha256 is not null
where run_id = $1 and delivered_at is null order by path`,
);

const settle = `update run_files set delivered_at = clock_timestamp() where run_id = $1 and path = $2`;

/** Which files runs have got. */
export class FileDeliveries {
  constructor(private readonly database: Database) {}

  async of(runId: RunId): Promise<readonly FileToDeliver[]> {
    const rows = await undelivered.all(this.database.sql, [runId]);
    return rows.map((row) => ({ path: row.path, file: row.id === null ? undefined : toFile(row) }));
  }

  content(file: Pick<StoredFile, 'id' | 'size'>): AsyncGenerator<Buffer> {
    return fileContent(this.database.sql, file);
  }

  /** It is in the workspace, or never will be. */
  async settle(runId: RunId, path: string): Promise<void> {
    await this.database.sql.query(settle, [runId, path]);
  }
}
