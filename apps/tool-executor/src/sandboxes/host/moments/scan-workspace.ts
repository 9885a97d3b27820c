import { type BigIntStats, closeSync, readlinkSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { type Name, findStatus, hasVanished, listNames, openDirectory, pathIn, toName, toShown } from './beneath';
import { type FileEntry, MomentRefused, type MomentStore, type TreeEntry, placeInTree } from './moment-store';

/** Each open directory takes a descriptor. */
const deepest = 256;
/** So many entries are looked at before other work of the process has its turn. */
const entriesPerTurn = 200;
/** The clock of a file system goes in steps: what changed so shortly before it was read may have changed after it. */
const clockStepNs = 50_000_000n;

/** What identifies a file that did not change since it was read. */
export interface SeenFile {
  readonly status: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;
  readonly content: string;
  /** When it was looked at, in nanoseconds. */
  readonly seenAtNs: bigint;
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

export const nowNs = (): bigint => BigInt(Date.now()) * 1_000_000n;

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

class Scan {
  readonly found: SeenFiles = new Map();
  /** Of files with several links, the path of the first that was seen. */
  private readonly firstLinks = new Map<bigint, FileEntry & { readonly path: Name }>();
  private entries = 0;

  constructor(private readonly parts: ScanParts) {}

  async directory(descriptor: number, path: Name, depth: number): Promise<string> {
    const entries: TreeEntry[] = [];
    for (const name of listNames(descriptor)) {
      await this.countEntry();
      const entry = await this.entry(descriptor, { name, path: placeInTree(path, name), depth }).catch(
        (error: unknown) => {
          if (hasVanished(error)) return undefined;
          throw asRefusal(error, placeInTree(path, name));
        },
      );
      if (entry) entries.push(entry);
    }
    return this.parts.store.keepTree(entries);
  }

  private async countEntry(): Promise<void> {
    this.entries += 1;
    if (this.entries > this.parts.maxEntries)
      throw new MomentRefused(`The workspace has more than ${this.parts.maxEntries} files.`);
    if (this.entries % entriesPerTurn === 0) await turn();
  }

  private async entry(
    directory: number,
    { name, path, depth }: { readonly name: Name; readonly path: Name; readonly depth: number },
  ): Promise<TreeEntry | undefined> {
    const at = pathIn(directory, name);
    const status = findStatus(at);
    if (!status) return undefined;
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

  private async file(
    at: Buffer,
    { name, path, status }: { readonly name: Name; readonly path: Name; readonly status: BigIntStats },
  ): Promise<FileEntry | undefined> {
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
  return isSame && now.ctimeNs + clockStepNs < seenAtNs;
}

function asRefusal(error: unknown, path: Name): unknown {
  const { code } = error as NodeJS.ErrnoException; // Node's own file system errors carry a code
  return code === 'EACCES' || code === 'EPERM' ? new MomentRefused(`${toShown(path)} cannot be read.`) : error;
}
