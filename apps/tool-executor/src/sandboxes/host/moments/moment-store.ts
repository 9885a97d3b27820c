import { randomUUID } from 'node:crypto';
import {
  type Stats,
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { readJson } from '@rondo/contract';
import { z } from 'zod';
import { SandboxError } from '../../provider/sandbox-error';
import { removeTree } from '../workspaces/directory-tree';
import { hasVanished } from './beneath';
import { type CopiedContent, copyHashed, copyUnread, hasHoles, longBytes, openRegular, sha256 } from './copy-content';
import { type FileEntry, type TreeEntry, readTreeBytes, toListed, toStored, toTreeBytes } from './tree-entry';

const mebibyte = 1024 * 1024;
const hash = z.string().regex(/^[0-9a-f]{64}$/);

type KeptFile = Pick<FileEntry, 'content' | 'place' | 'size'>;

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
  private isWhole: boolean;
  private readonly made = new Set<string>();
  /** Long contents that this process has compared with their hash, or written: they are not read again while nothing writes to them. */
  private readonly hashed = new Map<string, string>();

  constructor(
    private readonly directory: string,
    private readonly maxBytes: number,
  ) {
    this.isWhole = !this.isUnsettled;
  }

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
        if (!contents.has(content)) {
          this.hashed.delete(content);
          rmSync(join(this.blobs, part, content));
        }
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
    this.isWhole = true;
  }

  get bytes(): number {
    return this.storedBytes;
  }

  /** What is stored under the hash takes. Throws where nothing is. */
  measure(content: string): number {
    const status = statSync(this.toBlob(content), { throwIfNoEntry: false });
    if (!status) throw refuseDamaged();
    return status.size < longBytes ? status.size : Math.min(status.size, status.blocks * 512);
  }

  keepBytes(bytes: Buffer): string {
    const content = sha256(bytes);
    if (!existsSync(this.toBlob(content))) this.write(content, bytes);
    return content;
  }

  /** The content of a file that is not short. Undefined where the path has none any more. */
  async keepLong(path: Buffer): Promise<CopiedContent | undefined> {
    const opened = openRegular(path);
    if (!opened) return undefined;
    try {
      return await this.keepCopy(opened.file);
    } finally {
      closeSync(opened.file);
    }
  }

  /** The entries as they are kept already, with all that is in them. Undefined where they are not. */
  findTree(entries: readonly TreeEntry[]): { readonly tree: string; readonly entries: TreeEntry[] } | undefined {
    const tree = sha256(Buffer.from(toListed(entries)));
    return this.hasTree(tree) ? { tree, entries: this.readTree(tree) } : undefined;
  }

  /** To be called when all that is in them is kept. */
  keepTree(entries: readonly TreeEntry[]): string {
    const tree = sha256(Buffer.from(toListed(entries)));
    if (!this.hasTree(tree)) this.write(tree, toTreeBytes(entries));
    return tree;
  }

  readTree(root: string): TreeEntry[] {
    const entries = readTreeBytes(this.read(root), root);
    if (!entries) throw refuseDamaged();
    return entries;
  }

  /** What is stored under the hash. */
  read(content: string): Buffer {
    try {
      return readFileSync(this.toBlob(content));
    } catch (error) {
      throw hasVanished(error) ? refuseDamaged() : error;
    }
  }

  /** Rejects where the content is not what was kept. Holes stay holes. `pack` is where the place is. */
  async writeContent({ content, place, size }: KeptFile, into: number, pack?: Buffer): Promise<void> {
    if (size >= longBytes) return this.writeLong(content, into);
    const bytes = place && pack ? pack.subarray(place.offset, place.offset + size) : this.read(content);
    if (sha256(bytes) !== content) throw refuseDamaged();
    for (let done = 0; done < bytes.length;) done += writeSync(into, bytes, done, bytes.length - done, done);
  }

  /** Takes over the moment of another workspace on the same disk, without copying it. */
  async adopt(from: MomentStore, root: string): Promise<void> {
    if (this.hasTree(root)) return;
    this.makeDirectory(this.drafts); // it is not settled
    await turn();
    for (const entry of from.readTree(root)) {
      if (entry.kind === 'directory') await this.adopt(from, entry.tree);
      if (entry.kind === 'file' && entry.hard === undefined) this.link(from, toStored(entry));
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

  /** A directory is kept after all that is in it, so that is there, too, unless a kill has left something that was not deleted yet. */
  private hasTree(tree: string): boolean {
    return this.isWhole && existsSync(this.toBlob(tree));
  }

  private write(content: string, bytes: Buffer): void {
    this.count(bytes.length);
    const draft = this.newDraft();
    writeFileSync(draft, bytes, { mode: 0o400 });
    this.place(draft, content);
  }

  private open(content: string): number {
    try {
      return openSync(this.toBlob(content), 'r');
    } catch (error) {
      throw hasVanished(error) ? refuseDamaged() : error;
    }
  }

  private async keepCopy(from: number): Promise<CopiedContent> {
    const draft = this.newDraft();
    const into = openSync(draft, 'wx', 0o400);
    let counted = 0;
    const count = (bytes: number) => {
      this.count(bytes);
      counted += bytes;
    };
    try {
      const kept = await copyHashed({ from, into, count });
      if (!existsSync(this.toBlob(kept.content))) {
        this.place(draft, kept.content);
        this.hashed.set(kept.content, toMark(fstatSync(into)));
        counted = 0;
      }
      return kept;
    } finally {
      this.stored = this.storedBytes - counted; // it was there already, or is not there now
      closeSync(into);
      rmSync(draft, { force: true });
    }
  }

  private async writeLong(content: string, into: number): Promise<void> {
    const from = this.open(content);
    try {
      const status = fstatSync(from);
      if (this.hashed.get(content) === toMark(status) && !hasHoles(status)) {
        await copyUnread(from, into);
        return;
      }
      if ((await copyHashed({ from, into })).content !== content) throw refuseDamaged();
      this.hashed.set(content, toMark(status));
    } finally {
      closeSync(from);
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
    const mark = from.hashed.get(content);
    if (mark !== undefined) this.hashed.set(content, mark);
    this.stored = this.storedBytes + this.measure(content);
  }

  private place(draft: string, content: string): void {
    const blob = this.toBlob(content);
    this.makeDirectory(dirname(blob));
    renameSync(draft, blob);
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

const toMark = ({ ino, size, mtimeMs }: Stats): string => `${ino} ${size} ${mtimeMs}`;

const refuseDamaged = () => new MomentRefused('What was kept of the files is damaged.');

/** None where the line is torn, or empty. */
function toRecord(line: string): MomentRecord[] {
  const { data } = momentRecord.safeParse(readJson(line));
  return data ? [data] : [];
}

const listDirectory = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);
