import { createHash, randomUUID } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  read as readWithCallback,
  renameSync,
  rmSync,
  statSync,
  write as writeWithCallback,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readJson } from '@rondo/contract';
import { z } from 'zod';
import { SandboxError } from '../../provider/sandbox-error';
import { removeTree } from '../workspaces/directory-tree';
import { type Name, hasVanished } from './beneath';

const read = promisify(readWithCallback);
const write = promisify(writeWithCallback);

/** Files of this size are copied in the pool of threads, a few beside each other; shorter ones at once. */
export const longBytes = 512 * 1024;
/** Of pieces of 512 KiB, between which others are hashed, the kernel takes more than twice as long to write. */
const pieceBytes = 64 * 1024;
const zeros = Buffer.alloc(pieceBytes);
const mebibyte = 1024 * 1024;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const mode = z.number().int().min(0).max(0o7777);
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
export type TreeEntry = z.infer<typeof treeEntry>;
export type FileEntry = Extract<TreeEntry, { kind: 'file' }>;
const tree = z.array(treeEntry);

/** `tree` is absent before the state is kept, and where it was `refused`. */
const momentRecord = z.object({
  key: z.string(),
  at: z.iso.datetime(),
  tree: hash.optional(),
  refused: z.string().optional(),
  account: z.string().optional(),
  /** What all moments of the workspace take together. */
  stored_bytes: z.number().optional(),
});
export type MomentRecord = z.infer<typeof momentRecord>;

/** A state of the files that cannot be kept, or not be brought back. The message says why. */
export class MomentRefused extends SandboxError {
  constructor(message: string) {
    super('failed', message);
  }
}

/** It fits only where others are dropped. */
export class MomentsFull extends MomentRefused {}

/**
 * What the files of one workspace were at some moments: the content of files and the lists of directories, each under its hash, so
 * that what did not change is there once; and a line for each moment with the hash of its root. What was written is never changed.
 */
export class MomentStore {
  private stored: number | undefined;
  private isRemoved = false;
  private readonly made = new Set<string>();

  constructor(
    private readonly directory: string,
    private readonly maxBytes: number,
  ) {}

  /** The newest line of a moment counts. */
  record(record: Omit<MomentRecord, 'at' | 'stored_bytes'>): void {
    this.makeDirectory(this.directory);
    const line = { ...record, at: new Date().toISOString(), stored_bytes: this.storedBytes };
    appendFileSync(this.lines, `\n${JSON.stringify(line)}`, { mode: 0o600 }); // after a line that a kill has torn, too
  }

  /** In the order in which they were written. A line that a kill has torn counts as none. */
  readRecords(): MomentRecord[] {
    if (!existsSync(this.lines)) return [];
    return readFileSync(this.lines, 'utf8').split('\n').flatMap(toRecord);
  }

  /** In place of all records. `contents` is all that stays, with its bytes; a kill in between leaves more. */
  async replace(records: readonly MomentRecord[], contents: ReadonlyMap<string, number>): Promise<void> {
    const draft = this.newDraft();
    this.stored = [...contents.values()].reduce((sum, bytes) => sum + bytes, 0);
    const lines = records.map((record) => `\n${JSON.stringify({ ...record, stored_bytes: this.stored })}`);
    writeFileSync(draft, lines.join(''), { mode: 0o600 });
    renameSync(draft, this.lines);
    for (const part of listDirectory(this.blobs)) {
      await turn();
      for (const content of listDirectory(join(this.blobs, part)))
        if (!contents.has(content)) rmSync(join(this.blobs, part, content));
    }
    this.settle();
  }

  /** True where an executor was killed, or has failed, before a state was complete: what it wrote may belong to none. */
  get isUnsettled(): boolean {
    return existsSync(this.drafts);
  }

  /** Everything that was written belongs to a state that has its record. */
  settle(): void {
    rmSync(this.drafts, { recursive: true, force: true });
    this.made.delete(this.drafts);
  }

  get bytes(): number {
    return this.storedBytes;
  }

  /** What is stored under the hash takes. Throws where nothing is. */
  measure(content: string): number {
    const status = statSync(this.toBlob(content), { throwIfNoEntry: false });
    if (!status) throw damaged();
    return status.size < longBytes ? status.size : Math.min(status.size, status.blocks * 512);
  }

  /** Keeps the content of a regular file as it is read. Undefined where the path has none any more. */
  async keepFile(path: Buffer): Promise<{ content: string; size: number } | undefined> {
    let file: number;
    try {
      file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      if (hasVanished(error)) return undefined;
      throw error;
    }
    try {
      const status = fstatSync(file);
      if (!status.isFile()) return undefined;
      return (status.size < longBytes ? this.keepShort(file, status.size) : undefined) ?? (await this.keepLong(file));
    } finally {
      closeSync(file);
    }
  }

  keepTree(entries: readonly TreeEntry[]): string {
    return this.keepBytes(Buffer.from(JSON.stringify(entries)));
  }

  readTree(root: string): TreeEntry[] {
    const bytes = this.readBlob(root);
    if (sha256(bytes) !== root) throw damaged();
    return tree.parse(JSON.parse(bytes.toString()));
  }

  /** Rejects where the content is not what was kept. Zeros become holes. */
  async writeContent(content: string, into: number): Promise<void> {
    const from = this.openBlob(content);
    try {
      const { size } = fstatSync(from);
      const found = size < longBytes ? copyShort(from, into, size) : (await copyPieces(from, { into })).content;
      if (found !== content) throw damaged();
    } finally {
      closeSync(from);
    }
  }

  /** Takes over the moment of another workspace on the same disk, without copying it. */
  async adopt(from: MomentStore, root: string): Promise<void> {
    this.makeDirectory(this.drafts); // it is not settled
    await turn();
    for (const entry of from.readTree(root)) {
      if (entry.kind === 'directory') await this.adopt(from, entry.tree);
      if (entry.kind === 'file') this.link(from, entry.content);
    }
    this.link(from, root);
  }

  async remove(): Promise<void> {
    this.isRemoved = true;
    await removeTree(this.directory);
  }

  private get storedBytes(): number {
    return (this.stored ??= this.readRecords().at(-1)?.stored_bytes ?? 0);
  }

  /** Undefined where it has grown meanwhile. */
  private keepShort(file: number, expected: number): { content: string; size: number } | undefined {
    const buffer = Buffer.allocUnsafe(expected + 1);
    let size = 0;
    for (let count = -1; count !== 0 && size < buffer.length; size += count)
      count = readSync(file, buffer, size, buffer.length - size, size);
    return size === buffer.length ? undefined : { content: this.keepBytes(buffer.subarray(0, size)), size };
  }

  private keepBytes(bytes: Buffer): string {
    const content = sha256(bytes);
    if (existsSync(this.toBlob(content))) return content;
    this.count(bytes.length);
    const draft = this.newDraft();
    writeFileSync(draft, bytes, { mode: 0o400 });
    this.place(draft, content);
    return content;
  }

  private async keepLong(file: number): Promise<{ content: string; size: number }> {
    const draft = this.newDraft();
    const into = openSync(draft, 'wx', 0o400);
    let counted = 0;
    const count = (bytes: number) => {
      this.count(bytes);
      counted += bytes;
    };
    try {
      const kept = await copyPieces(file, { into, count });
      if (!existsSync(this.toBlob(kept.content))) {
        this.place(draft, kept.content);
        counted = 0;
      }
      return kept;
    } finally {
      this.stored = this.storedBytes - counted; // it was there already, or is not there now
      closeSync(into);
      rmSync(draft, { force: true });
    }
  }

  private count(bytes: number): void {
    if (this.storedBytes + bytes > this.maxBytes)
      throw new MomentsFull(
        `What the workspace was at its moments takes more than ${Math.floor(this.maxBytes / mebibyte)} MiB (SANDBOX_REWIND_MB).`,
      );
    this.stored = this.storedBytes + bytes;
  }

  private link(from: MomentStore, content: string): void {
    const blob = this.toBlob(content);
    if (existsSync(blob)) return;
    this.makeDirectory(dirname(blob));
    linkSync(from.toBlob(content), blob);
    this.stored = this.storedBytes + this.measure(content);
  }

  private place(draft: string, content: string): void {
    const blob = this.toBlob(content);
    this.makeDirectory(dirname(blob));
    renameSync(draft, blob);
  }

  private readBlob(content: string): Buffer {
    try {
      return readFileSync(this.toBlob(content));
    } catch (error) {
      throw hasVanished(error) ? damaged() : error;
    }
  }

  private newDraft(): string {
    this.makeDirectory(this.drafts);
    return join(this.drafts, randomUUID());
  }

  private makeDirectory(path: string): void {
    if (this.isRemoved) throw new MomentRefused('The workspace was deleted meanwhile.');
    if (this.made.has(path)) return;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.made.add(path);
  }

  private openBlob(content: string): number {
    try {
      return openSync(this.toBlob(content), 'r');
    } catch (error) {
      throw hasVanished(error) ? damaged() : error;
    }
  }

  private toBlob(content: string): string {
    return join(this.blobs, content.slice(0, 2), content);
  }

  private get blobs(): string {
    return join(this.directory, 'blobs');
  }

  private get drafts(): string {
    return join(this.directory, 'drafts');
  }

  private get lines(): string {
    return join(this.directory, 'moments.jsonl');
  }
}

export const placeInTree = (directory: Name, name: Name): Name => (directory === '' ? name : `${directory}/${name}`);

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const damaged = () => new MomentRefused('What was kept of the files is damaged.');

/** None where the line is torn, or empty. */
function toRecord(line: string): MomentRecord[] {
  const { data } = momentRecord.safeParse(readJson(line));
  return data ? [data] : [];
}

const listDirectory = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);

/** Resolves to the hash. At once: to hand a short file to the pool of threads costs more than to copy it. */
function copyShort(from: number, into: number, size: number): string {
  const bytes = Buffer.allocUnsafe(size);
  const read = readSync(from, bytes, 0, size, 0);
  for (let done = 0; done < read;) done += writeSync(into, bytes, done, read - done, done);
  return sha256(bytes.subarray(0, read));
}

interface CopyTarget {
  readonly into: number;
  readonly count?: (bytes: number) => void;
}

/** From the beginning to the end, which may move meanwhile. Pieces of zeros become holes, and take nothing. */
async function copyPieces(from: number, { into, count }: CopyTarget): Promise<{ content: string; size: number }> {
  const hashed = createHash('sha256');
  const buffer = Buffer.allocUnsafe(pieceBytes);
  let size = 0;
  for (;;) {
    const { bytesRead } = await read(from, buffer, 0, pieceBytes, size);
    if (bytesRead === 0) break;
    const piece = buffer.subarray(0, bytesRead);
    hashed.update(piece);
    if (!piece.equals(zeros.subarray(0, bytesRead))) {
      count?.(bytesRead);
      await writeWhole(into, piece, size);
    }
    size += bytesRead;
  }
  ftruncateSync(into, size);
  return { content: hashed.digest('hex'), size };
}

async function writeWhole(into: number, piece: Buffer, position: number): Promise<void> {
  for (let done = 0; done < piece.length;) {
    const { bytesWritten } = await write(into, piece, done, piece.length - done, position + done);
    done += bytesWritten;
  }
}
