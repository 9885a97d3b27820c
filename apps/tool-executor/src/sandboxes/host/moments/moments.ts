import { join } from 'node:path';
import { KeyedMutex } from '../../../keyed-mutex';
import type { FileChanges } from '@rondo/contract';
import { SandboxError } from '../../provider/sandbox-error';
import type {
  ReturnOrder,
  SandboxLabels,
  SandboxLog,
  SandboxMoments,
  UseOfFiles,
} from '../../provider/sandbox-provider';
import { requireThreadId } from '../../provider/thread-ids';
import { toMessage } from '@rondo/platform';
import { bringBack } from './bring-back';
import { compareTrees } from './compare-trees';
import { type MomentRecord, MomentRefused, MomentStore } from './moment-store';
import { type SeenFiles, scanWorkspace } from './scan-workspace';

interface MomentsParts {
  /** Of the sandboxes. What is kept lies beside the workspaces, where no sandbox reaches it. */
  readonly root: string;
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** A path of the workspace that this process can read. Without labels no sandbox is woken for it. */
  readonly openRoot: (threadId: string, labels?: SandboxLabels) => Promise<string>;
  readonly putToSleep: (threadId: string) => Promise<void>;
  /** Rejects where the disk of this machine is nearly full. */
  readonly requireSpace: () => Promise<void>;
  readonly log: SandboxLog;
}

/** What uses the files of a thread at present. */
interface Uses {
  calls: number;
  /** Those that have ended since the last moment. */
  ended: string[];
}

/** Files that are remembered of all workspaces, so that what did not change is not read again. */
const mostSeen = 400_000;
/** A return is complete when a scan finds nothing to do. */
const returnRounds = 3;

/**
 * What the files of each workspace were before the first call of a run that may change them, and after each such call. A moment is
 * kept once the call has been answered and before the next one begins, while the model thinks.
 */
export class Moments implements SandboxMoments {
  /** Nothing reads or changes the files of a thread at the same time, except calls. */
  private readonly turns = new KeyedMutex();
  private readonly uses = new Map<string, Uses>();
  private readonly stores = new Map<string, MomentStore>();
  /** The thread that was scanned last is the last one. */
  private readonly seen = new Map<string, SeenFiles>();
  private readonly begunRuns = new Map<string, string>();
  private readonly keeping = new Set<Promise<void>>();

  constructor(private readonly parts: MomentsParts) {}

  enter(threadId: string, { run, call, labels }: UseOfFiles): Promise<() => void> {
    return this.turns.run(threadId, async () => {
      await this.begin(threadId, run, labels);
      const uses = this.uses.get(threadId) ?? { calls: 0, ended: [] };
      this.uses.set(threadId, uses);
      uses.calls += 1;
      this.toStore(threadId).record({ key: call }); // without its tree: after a kill, no older state is taken for it
      return () => {
        uses.calls -= 1;
        uses.ended.push(call);
        const kept = this.turns.run(threadId, () => this.keepEnded(threadId));
        this.keeping.add(kept);
        void kept.finally(() => this.keeping.delete(kept));
      };
    });
  }

  /** A newer one of them that was not kept hides the older ones: they are other states. */
  find(threadId: string, keys: readonly string[]): ReturnType<SandboxMoments['find']> {
    return this.turns.run(threadId, () => {
      const found = this.read(threadId, keys);
      const isKept = found?.tree !== undefined;
      return Promise.resolve(
        isKept ? { moment: found.key, refused: null } : { moment: null, refused: whyNothing(found) },
      );
    });
  }

  preview(threadId: string, moment: string, labels: SandboxLabels): Promise<FileChanges> {
    return this.turns.run(threadId, async () => {
      const to = this.requireTree(threadId, moment);
      const store = this.toStore(threadId);
      const { tree: from } = await this.scan(threadId, await this.parts.openRoot(threadId, labels), store);
      return compareTrees(store, { from, to });
    });
  }

  async bringBack(threadId: string, { of, moment, run, labels }: ReturnOrder): Promise<FileChanges> {
    if (of !== threadId) await this.find(of, [moment]); // it may be about to be kept
    return this.turns.run(threadId, async () => {
      if (this.uses.has(threadId)) throw new SandboxError('unavailable', 'Calls of another run use the workspace.');
      const to = this.requireTree(of, moment);
      const store = this.toStore(threadId);
      if (of !== threadId) await store.adopt(this.toStore(of), to);
      await this.parts.requireSpace();
      await this.parts.putToSleep(threadId);
      const root = await this.parts.openRoot(threadId, labels);
      const { tree: from } = await this.scan(threadId, root, store);
      const begun = this.keepBefore(store, { run, tree: from });
      await this.change(threadId, root, { from, to });
      this.parts.log.info({ threadId, of, moment }, 'workspace brought back');
      return compareTrees(store, { from: begun, to });
    });
  }

  /** Waits for nothing that uses the files, since that may wait for the removal: it fails. */
  async remove(threadId: string): Promise<void> {
    const store = this.toStore(threadId);
    this.stores.delete(threadId);
    this.seen.delete(threadId);
    this.begunRuns.delete(threadId);
    this.uses.delete(threadId);
    await store.remove();
  }

  /** To be called while the sandboxes are awake. */
  async close(): Promise<void> {
    await Promise.all(this.keeping);
  }

  private async begin(threadId: string, run: string, labels: SandboxLabels): Promise<void> {
    if (this.begunRuns.get(threadId) === run) return;
    this.begunRuns.set(threadId, run);
    if (!this.read(threadId, [run])) await this.keep(threadId, [run], labels);
  }

  /** What the next call that has begun changes already is kept when that one has ended. */
  private async keepEnded(threadId: string): Promise<void> {
    const uses = this.uses.get(threadId);
    if (!uses || uses.calls > 0) return;
    this.uses.delete(threadId);
    await this.keep(threadId, uses.ended);
  }

  /** The files as they were before a return began, so that they can be brought back, too. */
  private keepBefore(store: MomentStore, { run, tree }: { readonly run: string; readonly tree: string }): string {
    const key = `before-${run}`;
    const begun = store.readRecords().find((record) => record.key === key)?.tree;
    if (begun === undefined) store.record({ key, tree });
    return begun ?? tree;
  }

  private async change(threadId: string, root: string, { from, to }: { from: string; to: string }): Promise<void> {
    const store = this.toStore(threadId);
    for (let round = 0; from !== to; round += 1) {
      if (round === returnRounds) throw new MomentRefused('The files keep changing while they are brought back.');
      await bringBack(root, { store, from, to, seen: this.seen.get(threadId) ?? new Map() });
      ({ tree: from } = await this.scan(threadId, root, store));
    }
  }

  /** Never rejects: why a state could not be kept is its record. */
  private async keep(threadId: string, keys: readonly string[], labels?: SandboxLabels): Promise<void> {
    const store = this.toStore(threadId);
    const record = (result: { tree: string } | { refused: string }) => {
      for (const key of keys) store.record({ key, ...result });
    };
    try {
      await this.parts.requireSpace();
      const { tree } = await this.scan(threadId, await this.parts.openRoot(threadId, labels), store);
      record({ tree });
    } catch (error) {
      const refused = toMessage(error);
      this.parts.log.warn({ threadId, keys, refused }, 'state of a workspace not kept');
      try {
        record({ refused });
      } catch (again) {
        this.parts.log.warn({ threadId, err: again }, 'moment not recorded'); // its line without a tree says enough
      }
    }
  }

  private async scan(threadId: string, root: string, store: MomentStore) {
    const { maxEntries } = this.parts;
    const parts = { store, seen: this.seen.get(threadId) ?? new Map(), maxEntries };
    const scanned = await scanWorkspace(root, parts);
    this.seen.delete(threadId);
    this.seen.set(threadId, scanned.seen);
    let all = [...this.seen.values()].reduce((sum, { size }) => sum + size, 0);
    for (const [oldest, { size }] of this.seen) {
      if (all <= mostSeen || oldest === threadId) break;
      this.seen.delete(oldest);
      all -= size;
    }
    return scanned;
  }

  private read(threadId: string, keys: readonly string[]): MomentRecord | undefined {
    return this.toStore(threadId)
      .readRecords()
      .findLast(({ key }) => keys.includes(key));
  }

  private requireTree(threadId: string, moment: string): string {
    const found = this.read(threadId, [moment]);
    if (found?.tree !== undefined) return found.tree;
    throw new MomentRefused(whyNothing(found));
  }

  private toStore(threadId: string): MomentStore {
    requireThreadId(threadId);
    const known = this.stores.get(threadId);
    if (known) return known;
    const store = new MomentStore(join(this.parts.root, '.moments', threadId), this.parts.maxBytes);
    store.clean();
    this.stores.set(threadId, store);
    return store;
  }
}

const whyNothing = (found: MomentRecord | undefined): string =>
  found?.refused ??
  (found ? 'The executor ended before the files were kept.' : 'Nothing was kept of the files at that point.');
