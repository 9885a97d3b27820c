import { type BigIntStats, closeSync, readlinkSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { type Name, findStatus, hasVanished, listNames, openDirectory, pathIn, toName, toShown } from './beneath';
import { readShort, sha256 } from './copy-content';
import { MomentRefused, type MomentStore } from './moment-store';
import { Several } from './several';
import { type FileEntry, type Place, type TreeEntry, placeInTree } from './tree-entry';

/** Each open directory takes a descriptor. */
const deepest = 256;
/** So many entries are looked at before other work of the process has its turn: in about a millisecond. */
const entriesPerTurn = 25;
/** The clock of a file system goes in steps: what changed so shortly before it was read may have changed after it. */
const clockStepNs = 50_000_000n;

/** What identifies a file that did not change since it was read. */
export interface SeenFile {
  readonly status: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;
  readonly content: string;
  place?: Place | undefined;
  /** When it was looked at, in nanoseconds; undefined where it was written for a return, which nothing runs beside. */
  readonly seenAtNs: bigint | undefined;
}

/** By path. It saves reading what did not change; without it, everything is read. */
export type SeenFiles = Map<Name, SeenFile>;

export interface ScanParts {
  readonly store: MomentStore;
  readonly seen: SeenFiles;
  readonly maxEntries: number;
}

export interface ScannedWorkspace {
  readonly tree: string;
  readonly seen: SeenFiles;
}

const nowNs = (): bigint => BigInt(Date.now()) * 1_000_000n;

/**
 * Keeps everything in a workspace: names, modes, links and contents, of hidden files and of large folders, too. Sockets, FIFOs and
 * devices are left out. Rejects with MomentRefused where something cannot be kept: nothing is passed over.
 */
export async function scanWorkspace(root: string, parts: ScanParts): Promise<ScannedWorkspace> {
  const scan = new Scan(parts);
  const directory = openDirectory(root);
  try {
    return { tree: await scan.directory(directory, '', 0), seen: scan.found };
  } finally {
    closeSync(directory);
  }
}

interface ListedEntry {
  readonly name: Name;
  readonly path: Name;
  readonly depth: number;
  readonly status: BigIntStats;
  /** Of its directory. */
  readonly pack: Pack;
}

type Kept = TreeEntry | undefined;

class Scan {
  readonly found: SeenFiles = new Map();
  /** Of files with several links, the path of the first that was seen. */
  private readonly firstLinks = new Map<bigint, FileEntry & { readonly path: Name }>();
  private readonly several = new Several();
  private entries = 0;

  constructor(private readonly parts: ScanParts) {}

  async directory(descriptor: number, path: Name, depth: number): Promise<string> {
    const entries: Kept[] = [];
    const pending: Promise<void>[] = [];
    const pack = new Pack(this.parts.store);
    try {
      for (const name of listNames(descriptor)) {
        if (this.countEntry() % entriesPerTurn === 0) await turn();
        const at = placeInTree(path, name);
        const status = findListed(descriptor, name, at);
        if (!status) continue;
        const entry = this.entry(descriptor, { name, path: at, depth, status, pack });
        const position = entries.push(entry instanceof Promise ? undefined : entry) - 1;
        if (!(entry instanceof Promise)) continue;
        const placed = entry.then((kept) => void (entries[position] = kept));
        pending.push(placed);
        // What has several links is read in its turn, so that the first of them is known.
        await (status.isFile() && status.nlink === 1n ? this.several.add(placed) : placed);
      }
    } finally {
      await Promise.allSettled(pending);
    }
    await Promise.all(pending);
    return this.keepList(
      path,
      entries.filter((entry) => entry !== undefined),
      pack,
    );
  }

  /** What is kept already says where its short files lie. */
  private keepList(path: Name, entries: readonly TreeEntry[], pack: Pack): string {
    const { store } = this.parts;
    const known = pack.isEmpty ? undefined : store.findTree(entries);
    if (!known) {
      pack.keep();
      return store.keepTree(entries);
    }
    for (const entry of known.entries) {
      const seen = this.found.get(placeInTree(path, entry.name));
      if (seen && entry.kind === 'file') seen.place = entry.place;
    }
    return known.tree;
  }

  private countEntry(): number {
    this.entries += 1;
    if (this.entries > this.parts.maxEntries)
      throw new MomentRefused(`The workspace has more than ${this.parts.maxEntries} files.`);
    return this.entries;
  }

  /** At once where it can be: most entries are files that did not change. */
  private entry(directory: number, listed: ListedEntry): Kept | Promise<Kept> {
    const refuse = (error: unknown): Kept => {
      if (!hasVanished(error)) throw asRefusal(error, listed.path);
      return undefined;
    };
    try {
      const kept = this.keep(pathIn(directory, listed.name), listed);
      return kept instanceof Promise ? kept.catch(refuse) : kept;
    } catch (error) {
      return refuse(error);
    }
  }

  private keep(at: Buffer, listed: ListedEntry): Kept | Promise<Kept> {
    const { name, status } = listed;
    if (status.isSymbolicLink())
      return { name, kind: 'link', target: toName(readlinkSync(at, { encoding: 'buffer' })) };
    if (status.isFile()) return this.file(at, listed);
    return status.isDirectory() ? this.inner(at, listed) : undefined;
  }

  private async inner(at: Buffer, { name, path, depth, status }: ListedEntry): Promise<TreeEntry> {
    if (depth >= deepest) throw new MomentRefused(`Folders of the workspace are nested deeper than ${deepest}.`);
    const inner = openDirectory(at);
    try {
      const tree = await this.directory(inner, path, depth + 1);
      return { name, kind: 'directory', mode: toMode(status), tree };
    } finally {
      closeSync(inner);
    }
  }

  private file(at: Buffer, listed: ListedEntry): Kept | Promise<Kept> {
    const { name, path, status, pack } = listed;
    const first = this.firstLinks.get(status.ino);
    if (first) {
      const { path: hard, place: _, ...entry } = first;
      return { ...entry, name, hard };
    }
    const seenAtNs = nowNs();
    const known = this.parts.seen.get(path);
    if (known && isUnchanged(known, status)) {
      const { content, place } = known;
      return this.note(listed, { content, place, size: Number(status.size) }, seenAtNs).entry;
    }
    const { store } = this.parts;
    const read = readShort(at);
    if (read === 'long') return store.keepLong(at).then((kept) => kept && this.note(listed, kept, seenAtNs).entry);
    if (!read) return undefined;
    const isPacked = read.length <= mostPacked;
    const content = isPacked ? sha256(read) : store.keepBytes(read);
    const noted = this.note(listed, { content, size: read.length }, seenAtNs);
    if (isPacked) pack.add(read, noted);
    return noted.entry;
  }

  private note(
    { name, path, status }: ListedEntry,
    { content, size, place }: Pick<FileEntry, 'content' | 'size' | 'place'>,
    seenAtNs: bigint,
  ): NotedFile {
    const [mode, changed] = [toMode(status), toChanged(status)];
    const entry: FileEntry = { name, kind: 'file', mode, changed, content, size, ...(place && { place }) };
    const seen: SeenFile = { status: toSeenStatus(status), content, place, seenAtNs };
    this.found.set(path, seen);
    if (status.nlink > 1n) this.firstLinks.set(status.ino, { ...entry, path });
    return { entry, seen };
  }
}

interface NotedFile {
  readonly entry: FileEntry;
  readonly seen: SeenFile;
}

/** Files of up to this size are kept together: to make a file takes longer than to write it. */
const mostPacked = 16 * 1024;
const packBytes = 256 * 1024;

/** The short files of a directory that are not kept yet. */
class Pack {
  private readonly files = new Map<string, { readonly bytes: Buffer; readonly noted: NotedFile[] }>();
  private bytes = 0;

  constructor(private readonly store: MomentStore) {}

  get isEmpty(): boolean {
    return this.files.size === 0;
  }

  add(bytes: Buffer, noted: NotedFile): void {
    const { content } = noted.entry;
    const same = this.files.get(content);
    if (same) same.noted.push(noted);
    else {
      this.files.set(content, { bytes, noted: [noted] });
      this.bytes += bytes.length;
    }
    if (this.bytes >= packBytes) this.keep();
  }

  /** One alone is kept under its own hash. */
  keep(): void {
    const files = [...this.files.values()];
    if (files.length === 0) return;
    const content = this.store.keepBytes(Buffer.concat(files.map(({ bytes }) => bytes)));
    let offset = 0;
    for (const { bytes, noted } of files.length > 1 ? files : []) {
      for (const { entry, seen } of noted) entry.place = seen.place = { content, offset };
      offset += bytes.length;
    }
    this.files.clear();
    this.bytes = 0;
  }
}

/** What the content of all files takes, without holes. Several links to one count each. */
export async function measureWorkspace(root: string): Promise<number> {
  let [bytes, entries] = [0, 0];
  const add = async (path: string | Buffer): Promise<void> => {
    const directory = openDirectory(path);
    try {
      for (const name of listNames(directory)) {
        entries += 1;
        if (entries % entriesPerTurn === 0) await turn();
        const at = pathIn(directory, name);
        const status = findStatus(at);
        if (status?.isFile()) bytes += Math.min(Number(status.size), Number(status.blocks) * 512);
        if (status?.isDirectory()) await add(at);
      }
    } finally {
      closeSync(directory);
    }
  };
  await add(root);
  return bytes;
}

function findListed(directory: number, name: Name, path: Name): BigIntStats | undefined {
  try {
    return findStatus(pathIn(directory, name));
  } catch (error) {
    throw asRefusal(error, path);
  }
}

export const toMode = ({ mode }: BigIntStats): number => Number(mode & 0o7777n);

/** Rounded, because what sets the time takes fractions of seconds. */
export const toChanged = ({ mtimeNs }: BigIntStats): number => Math.round(Number(mtimeNs) / 1_000_000);

export const toSeenStatus = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): SeenFile['status'] => ({
  ...{ ino, size, mtimeNs, ctimeNs },
});

function isUnchanged({ status: before, seenAtNs }: SeenFile, now: BigIntStats): boolean {
  const isSame =
    before.ino === now.ino &&
    before.size === now.size &&
    before.mtimeNs === now.mtimeNs &&
    before.ctimeNs === now.ctimeNs;
  return isSame && (seenAtNs === undefined || now.ctimeNs + clockStepNs < seenAtNs);
}

function asRefusal(error: unknown, path: Name): unknown {
  const { code } = error as NodeJS.ErrnoException; // Node's own file system errors carry a code
  return code === 'EACCES' || code === 'EPERM' ? new MomentRefused(`${toShown(path)} cannot be read.`) : error;
}
