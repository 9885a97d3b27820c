import { type BigIntStats, closeSync, readlinkSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { type Name, findStatus, hasVanished, listNames, openDirectory, pathIn, toName, toShown } from './beneath';
import {
  type FileEntry,
  MomentRefused,
  type MomentStore,
  type TreeEntry,
  longBytes,
  placeInTree,
} from './moment-store';
import { Several } from './several';

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
}

class Scan {
  readonly found: SeenFiles = new Map();
  /** Of files with several links, the path of the first that was seen. */
  private readonly firstLinks = new Map<bigint, FileEntry & { readonly path: Name }>();
  private readonly several = new Several();
  private entries = 0;

  constructor(private readonly parts: ScanParts) {}

  async directory(descriptor: number, path: Name, depth: number): Promise<string> {
    const entries: Promise<TreeEntry | undefined>[] = [];
    try {
      for (const name of listNames(descriptor)) {
        await this.countEntry();
        const at = placeInTree(path, name);
        const status = findListed(descriptor, name, at);
        if (!status) continue;
        const entry = this.entry(descriptor, { name, path: at, depth, status });
        entries.push(entry);
        // What has several links is read in its turn, so that the first of them is known.
        const isLong = status.isFile() && status.nlink === 1n && status.size >= BigInt(longBytes);
        await (isLong ? this.several.add(entry) : entry);
      }
    } finally {
      await Promise.allSettled(entries);
    }
    const found = await Promise.all(entries);
    return this.parts.store.keepTree(found.filter((entry) => entry !== undefined));
  }

  private async countEntry(): Promise<void> {
    this.entries += 1;
    if (this.entries > this.parts.maxEntries)
      throw new MomentRefused(`The workspace has more than ${this.parts.maxEntries} files.`);
    if (this.entries % entriesPerTurn === 0) await turn();
  }

  private async entry(directory: number, listed: ListedEntry): Promise<TreeEntry | undefined> {
    try {
      return await this.keep(pathIn(directory, listed.name), listed);
    } catch (error) {
      if (hasVanished(error)) return undefined;
      throw asRefusal(error, listed.path);
    }
  }

  private async keep(at: Buffer, { name, path, depth, status }: ListedEntry): Promise<TreeEntry | undefined> {
    if (status.isSymbolicLink())
      return { name, kind: 'link', target: toName(readlinkSync(at, { encoding: 'buffer' })) };
    if (status.isFile()) return this.file(at, { name, path, status });
    if (!status.isDirectory()) return undefined;
    if (depth >= deepest) throw new MomentRefused(`Folders of the workspace are nested deeper than ${deepest}.`);
    const inner = openDirectory(at);
    try {
      const tree = await this.directory(inner, path, depth + 1);
      return { name, kind: 'directory', mode: toMode(status), tree };
    } finally {
      closeSync(inner);
    }
  }

  private async file(at: Buffer, { name, path, status }: Omit<ListedEntry, 'depth'>): Promise<FileEntry | undefined> {
    const first = this.firstLinks.get(status.ino);
    if (first) {
      const { path: hard, ...entry } = first;
      return { ...entry, name, hard };
    }
    const seenAtNs = nowNs();
    const known = this.parts.seen.get(path);
    const kept =
      known && isUnchanged(known, status)
        ? { content: known.content, size: Number(status.size) }
        : await this.parts.store.keepFile(at);
    if (!kept) return undefined;
    this.found.set(path, { status: toIdentity(status), content: kept.content, seenAtNs });
    const entry: FileEntry = { name, kind: 'file', mode: toMode(status), changed: toChanged(status), ...kept };
    if (status.nlink > 1n) this.firstLinks.set(status.ino, { ...entry, path });
    return entry;
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

export const toIdentity = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): SeenFile['status'] => ({
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
