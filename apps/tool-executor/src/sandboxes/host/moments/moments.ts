import { join } from 'node:path';
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
import { toMessage, KeyedMutex } from '@rondo/platform';
import { bringBack } from './bring-back';
import { compareTrees } from './compare-trees';
import { AccountShares } from './account-shares';
import { type DropOrder, dropOldest } from './drop-oldest';
import { type MomentRecord, MomentRefused, MomentStore, MomentsFull } from './moment-store';
import {
  type ScannedWorkspace,
  type SeenFile,
  type SeenFiles,
  measureWorkspace,
  scanWorkspace,
} from './scan-workspace';
import { toStored } from './tree-entry';

interface MomentsParts {
  /** Of the sandboxes. What is kept lies beside the workspaces, where no sandbox reaches it. */
  readonly root: string;
  /** Of one workspace. */
  readonly maxBytes: number;
  /** Of all workspaces of an account. */
  readonly accountBytes: number;
  readonly maxEntries: number;
  /** A path of the workspace that this process can read. Without labels no sandbox is woken for it. */
  readonly openRoot: (threadId: string, labels?: SandboxLabels) => Promise<string>;
  readonly putToSleep: (threadId: string) => Promise<void>;
  /** Rejects where the disk of this machine is nearly full. */
  readonly requireSpace: () => Promise<void>;
  readonly log: SandboxLog;
}

/** A state that is to be kept under each of the keys. */
interface KeepOrder {
  readonly threadId: string;
  readonly keys: readonly string[];
  readonly account: string | undefined;
  /** Without them no sandbox is woken for it. */
  readonly labels?: SandboxLabels;
}

/** What uses the files of a thread at present. */
interface Uses {
  calls: number;
  readonly account: string | undefined;
  /** Those that have ended since the last moment. */
  ended: string[];
}

/** Files that are remembered of all workspaces, so that what did not change is not read again. */
const mostSeen = 400_000;
/** A return is complete when a scan finds nothing to do. */
const returnRounds = 3;
const forNewer = 'It is not kept any more: newer states of the files took its place';

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
  private readonly shares: AccountShares;

  constructor(private readonly parts: MomentsParts) {
    this.shares = new AccountShares({
      directory: this.toDirectory(),
      maxBytes: parts.accountBytes,
      readRecords: (threadId) => this.toStore(threadId).readRecords(),
      drop: (threadId, toBytes) => this.turns.run(threadId, () => this.dropForAccount(threadId, toBytes)),
    });
  }

  enter(threadId: string, { run, call, labels }: UseOfFiles): Promise<() => void> {
    return this.turns.run(threadId, async () => {
      const store = await this.open(threadId);
      await this.begin(store, { threadId, run, labels });
      const { account } = labels;
      const uses = this.uses.get(threadId) ?? { calls: 0, account, ended: [] };
      this.uses.set(threadId, uses);
      uses.calls += 1;
      store.record({ key: call, account }); // without its tree: after a kill, no older state is taken for it
      return () => {
        uses.calls -= 1;
        uses.ended.push(call);
        const kept = this.turns.run(threadId, () => this.keepEnded(threadId)).then(() => this.keepWithin(account));
        this.keeping.add(kept);
        void kept.finally(() => this.keeping.delete(kept));
      };
    });
  }

  /** A newer one of them that was not kept hides the older ones: they are other states. */
  find(threadId: string, keys: readonly string[]): ReturnType<SandboxMoments['find']> {
    return this.turns.run(threadId, async () => {
      const found = findRecord(await this.open(threadId), keys);
      const isKept = found?.tree !== undefined;
      return isKept ? { moment: found.key, refused: null } : { moment: null, refused: whyNothing(found) };
    });
  }

  preview(threadId: string, moment: string, labels: SandboxLabels): Promise<FileChanges> {
    return this.turns.run(threadId, async () => {
      const store = await this.open(threadId);
      const to = requireTree(store, moment);
      const root = await this.parts.openRoot(threadId, labels);
      const { tree: from } = await this.scan(store, { threadId, root, needed: to });
      return compareTrees(store, { from, to });
    });
  }

  async bringBack(threadId: string, { of, moment, run, labels }: ReturnOrder): Promise<FileChanges> {
    const { account } = labels;
    const adopted = of === threadId ? undefined : await this.adopt(threadId, of, moment);
    const changes = await this.turns.run(threadId, async () => {
      if (this.uses.has(threadId)) throw new SandboxError('unavailable', 'Calls of another run use the workspace.');
      const store = await this.open(threadId);
      const to = adopted ?? requireTree(store, moment);
      await this.parts.requireSpace();
      await this.parts.putToSleep(threadId);
      const root = await this.parts.openRoot(threadId, labels);
      const { tree: from } = await this.scan(store, { threadId, root, needed: to });
      const begun = keepBefore(store, { run, tree: from, account });
      await this.change(store, { threadId, root, from, to });
      this.shares.note(threadId, { account, bytes: store.bytes });
      this.parts.log.info({ threadId, of, moment }, 'workspace brought back');
      return compareTrees(store, { from: begun, to });
    });
    await this.keepWithin(account);
    return changes;
  }

  async measure(account: string): Promise<{ used: number; limit: number }> {
    return { used: await this.shares.measure(account), limit: this.parts.accountBytes };
  }

  /** Takes the state over from another workspace, where it may be about to be kept. Resolves to its tree. */
  private async adopt(threadId: string, of: string, moment: string): Promise<string> {
    const store = await this.turns.run(threadId, () => this.open(threadId));
    return this.turns.run(of, async () => {
      const from = await this.open(of);
      const tree = requireTree(from, moment);
      await store.adopt(from, tree);
      return tree;
    });
  }

  /** Waits for nothing that uses the files, since that may wait for the removal: it fails. */
  async remove(threadId: string): Promise<void> {
    const store = this.stores.get(threadId) ?? this.toStore(threadId);
    this.stores.delete(threadId);
    this.shares.forget(threadId);
    this.seen.delete(threadId);
    this.begunRuns.delete(threadId);
    this.uses.delete(threadId);
    await store.remove();
  }

  /** To be called while the sandboxes are awake. */
  async close(): Promise<void> {
    await Promise.all(this.keeping);
  }

  private async begin(
    store: MomentStore,
    { threadId, run, labels }: Pick<UseOfFiles, 'run' | 'labels'> & { readonly threadId: string },
  ): Promise<void> {
    if (this.begunRuns.get(threadId) === run) return;
    this.begunRuns.set(threadId, run);
    if (!findRecord(store, [run])) await this.keep(store, { threadId, keys: [run], account: labels.account, labels });
  }

  /** What the next call that has begun changes already is kept when that one has ended. */
  private async keepEnded(threadId: string): Promise<void> {
    const uses = this.uses.get(threadId);
    if (!uses || uses.calls > 0) return;
    this.uses.delete(threadId);
    await this.keep(await this.open(threadId), { threadId, keys: uses.ended, account: uses.account });
  }

  /** Never rejects: what could not be dropped is dropped with the next state. */
  private async keepWithin(account: string | undefined): Promise<void> {
    if (account === undefined) return;
    await this.shares.keepWithin(account).catch((err: unknown) => {
      this.parts.log.warn({ account, err }, 'states of workspaces not dropped');
    });
  }

  private async change(
    store: MomentStore,
    { threadId, root, from: first, to }: { threadId: string; root: string; from: string; to: string },
  ): Promise<void> {
    let from = first;
    for (let round = 0; from !== to; round += 1) {
      if (round === returnRounds) throw new MomentRefused('The files keep changing while they are brought back.');
      await bringBack(root, { store, from, to, seen: this.seen.get(threadId) ?? new Map() });
      ({ tree: from } = await this.scan(store, { threadId, root, needed: to }));
    }
  }

  /** Never rejects: why a state could not be kept is its record. */
  private async keep(store: MomentStore, { threadId, keys, account, labels }: KeepOrder): Promise<void> {
    const record = (result: { tree: string } | { refused: string }) => {
      for (const key of keys) store.record({ key, account, ...result });
    };
    try {
      await this.parts.requireSpace();
      const { tree } = await this.scan(store, { threadId, root: await this.parts.openRoot(threadId, labels) });
      record({ tree });
      store.settle();
      this.shares.note(threadId, { account, bytes: store.bytes });
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

  /** Drops older states for it, except the one that is needed. Rejects with MomentsFull where that is not enough. */
  private async scan(
    store: MomentStore,
    { threadId, root, needed }: { readonly threadId: string; readonly root: string; readonly needed?: string },
  ) {
    const { maxEntries, maxBytes } = this.parts;
    for (let share = 0.5; ; share = 0) {
      const seen = this.seen.get(threadId) ?? new Map();
      try {
        return this.remember(threadId, await scanWorkspace(root, { store, seen, maxEntries }));
      } catch (error) {
        if (!(error instanceof MomentsFull)) throw error;
        const isOther = ({ tree }: MomentRecord) => tree !== undefined && tree !== needed;
        const canDrop = store.readRecords().some(isOther) && (await measureWorkspace(root)) <= maxBytes;
        const toBytes = canDrop ? share * maxBytes : Infinity; // what belongs to no state is deleted in any case
        await this.drop(store, threadId, { toBytes, why: `${forNewer} (SANDBOX_REWIND_MB).`, needed });
        if (!canDrop) throw error;
      }
    }
  }

  private remember(threadId: string, scanned: ScannedWorkspace): ScannedWorkspace {
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

  private async dropForAccount(threadId: string, toBytes: number) {
    const store = await this.open(threadId);
    if (store.readRecords().length === 0) return { bytes: 0, since: undefined }; // deleted meanwhile
    const why = `${forNewer}, of this workspace or another one of its account (SANDBOX_REWIND_ACCOUNT_MB).`;
    const { since } = await this.drop(store, threadId, { toBytes, why });
    return { bytes: store.bytes, since };
  }

  /** What is not stored any more is read again. */
  private async drop(store: MomentStore, threadId: string, order: DropOrder) {
    const left = await dropOldest(store, order);
    const seen = this.seen.get(threadId) ?? new Map<string, SeenFile>();
    for (const [path, file] of seen) if (!left.contents.has(toStored(file))) seen.delete(path);
    this.parts.log.info({ threadId, bytes: store.bytes, since: left.since }, 'states of a workspace dropped');
    return left;
  }

  /** To be called in the turn of the thread. After a kill, what belongs to no state is deleted first. */
  private async open(threadId: string): Promise<MomentStore> {
    const known = this.stores.get(threadId);
    if (known) return known;
    const store = this.toStore(threadId);
    if (store.isUnsettled)
      await this.drop(store, threadId, { toBytes: Infinity, why: forNewer }).catch((err: unknown) => {
        this.parts.log.warn({ threadId, err }, 'what a kill left of a state not deleted');
      });
    this.stores.set(threadId, store);
    return store;
  }

  private toStore(threadId: string): MomentStore {
    requireThreadId(threadId);
    return new MomentStore(join(this.toDirectory(), threadId), this.parts.maxBytes);
  }

  private toDirectory(): string {
    return join(this.parts.root, '.moments');
  }
}

/** The files as they were before a return began, so that they can be brought back, too. */
function keepBefore(
  store: MomentStore,
  { run, tree, account }: { readonly run: string; readonly tree: string; readonly account: string | undefined },
): string {
  const key = `before-${run}`;
  const begun = store.readRecords().find((record) => record.key === key)?.tree;
  if (begun === undefined) store.record({ key, tree, account });
  return begun ?? tree;
}

const findRecord = (store: MomentStore, keys: readonly string[]): MomentRecord | undefined =>
  store.readRecords().findLast(({ key }) => keys.includes(key));

function requireTree(store: MomentStore, moment: string): string {
  const found = findRecord(store, [moment]);
  if (found?.tree !== undefined) return found.tree;
  throw new MomentRefused(whyNothing(found));
}

const whyNothing = (found: MomentRecord | undefined): string =>
  found?.refused ??
  (found ? 'The executor ended before the files were kept.' : 'Nothing was kept of the files at that point.');
