import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { type Name, openDirectory, pathIn, removeEntry, toBytes } from './beneath';
import { longBytes } from './copy-content';
import type { MomentStore } from './moment-store';
import { type SeenFiles, toSeenStatus } from './scan-workspace';
import { Several } from './several';
import { type FileEntry, type TreeEntry, placeInTree, toIdentity } from './tree-entry';

/** So many files are written before other work of the process has its turn: in about a millisecond. */
const entriesPerTurn = 10;

interface BringBackOrder {
  readonly store: MomentStore;
  /** What the workspace is now, and what it is to be. Both are in the store. */
  readonly from: string;
  readonly to: string;
  /** Gets the files that are written. */
  readonly seen: SeenFiles;
}

/**
 * Changes what differs. No process of the sandbox may run. Each file is written beside its place and renamed, so one that is there
 * is whole; after a kill, a scan says what is left to do. The owner of everything is that of the workspace.
 */
export async function bringBack(root: string, order: BringBackOrder): Promise<void> {
  const directory = openDirectory(root);
  try {
    await new Return(directory, order).directory(directory, { from: order.from, to: order.to, path: '' });
  } finally {
    closeSync(directory);
  }
}

interface Step {
  readonly from: string | undefined;
  readonly to: string;
  readonly path: Name;
}

class Return {
  private readonly several = new Several();
  private pack: { readonly content: string; readonly bytes: Buffer } | undefined;
  private entries = 0;
  private readonly owner: number;
  private readonly group: number;

  constructor(
    private readonly root: number,
    private readonly order: BringBackOrder,
  ) {
    ({ uid: this.owner, gid: this.group } = fstatSync(root));
  }

  async directory(directory: number, { from, to, path }: Step): Promise<void> {
    if (from === to) return;
    const { store } = this.order;
    const present = new Map((from === undefined ? [] : store.readTree(from)).map((entry) => [entry.name, entry]));
    const wanted = store.readTree(to);
    const names = new Set(wanted.map(({ name }) => name));
    for (const name of present.keys()) if (!names.has(name)) removeEntry(directory, name);
    try {
      for (const entry of wanted) {
        if ((this.entries += 1) % entriesPerTurn === 0) await turn();
        const isLong = entry.kind === 'file' && entry.hard === undefined && entry.size >= longBytes;
        const step = { entry, present: present.get(entry.name), path: placeInTree(path, entry.name) };
        const done = this.entry(directory, step);
        await (isLong ? this.several.add(done) : done);
      }
    } finally {
      await this.several.finish(); // before the directory is closed
    }
  }

  private async entry(
    directory: number,
    {
      entry,
      present,
      path,
    }: { readonly entry: TreeEntry; readonly present: TreeEntry | undefined; readonly path: Name },
  ): Promise<void> {
    switch (entry.kind) {
      case 'directory':
        return this.inner(directory, { entry, present, path });
      case 'link':
        if (present?.kind === 'link' && present.target === entry.target) return;
        removeEntry(directory, entry.name);
        symlinkSync(toBytes(entry.target), pathIn(directory, entry.name));
        lchownSync(pathIn(directory, entry.name), this.owner, this.group);
        return;
      case 'file':
        if (toIdentity(present) === toIdentity(entry)) return;
        if (present?.kind !== 'file') removeEntry(directory, entry.name);
        if (entry.hard === undefined) await this.file(directory, entry, path);
        else {
          await this.several.finish();
          this.hardLink(directory, entry, entry.hard);
        }
    }
  }

  private async inner(
    parent: number,
    {
      entry,
      present,
      path,
    }: {
      readonly entry: Extract<TreeEntry, { kind: 'directory' }>;
      readonly present: TreeEntry | undefined;
      readonly path: Name;
    },
  ): Promise<void> {
    const at = pathIn(parent, entry.name);
    const isThere = present?.kind === 'directory';
    if (!isThere) {
      removeEntry(parent, entry.name);
      mkdirSync(at, { mode: 0o700 });
    }
    const directory = openDirectory(at);
    try {
      if (isThere) fchmodSync(directory, entry.mode | 0o700); // while it is written in, also without root
      await this.directory(directory, { from: isThere ? present.tree : undefined, to: entry.tree, path });
      fchownSync(directory, this.owner, this.group);
      fchmodSync(directory, entry.mode);
    } finally {
      closeSync(directory);
    }
  }

  private async file(directory: number, entry: FileEntry, path: Name): Promise<void> {
    const { name, mode, changed, content, place } = entry;
    const draft = pathIn(directory, `.rondo-${randomUUID()}`);
    const file = openSync(
      draft,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    );
    try {
      await this.order.store.writeContent(entry, file, place && this.readPack(place.content));
      fchownSync(file, this.owner, this.group);
      fchmodSync(file, mode); // after the owner, whose change takes set-user-ID away
      const time = new Date(changed); // of a number before 1970, Node makes the present
      futimesSync(file, time, time);
      renameSync(draft, pathIn(directory, name));
      const status = fstatSync(file, { bigint: true });
      this.order.seen.set(path, { status: toSeenStatus(status), content, place, seenAtNs: undefined });
    } catch (error) {
      unlinkSync(draft);
      throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Files that lie together are written one after the other. */
  private readPack(content: string): Buffer {
    if (this.pack?.content !== content) this.pack = { content, bytes: this.order.store.read(content) };
    return this.pack.bytes;
  }

  /** Its first link comes before it, so that one is as it is to be. */
  private hardLink(directory: number, { name }: FileEntry, first: Name): void {
    const parts = toPathParts(first);
    const opened: number[] = [];
    let parent = this.root;
    try {
      for (const part of parts.slice(0, -1)) opened.push((parent = openDirectory(pathIn(parent, part))));
      const draft = pathIn(directory, `.rondo-${randomUUID()}`);
      linkSync(pathIn(parent, parts.at(-1) ?? ''), draft);
      renameSync(draft, pathIn(directory, name));
    } finally {
      opened.forEach(closeSync);
    }
  }
}

const toPathParts = (path: Name): Name[] => path.split('/');
