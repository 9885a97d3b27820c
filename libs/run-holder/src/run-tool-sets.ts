import type { AccountId, RunSettings } from '@rondo/contract';
import {
  type ClaimedRun,
  type LackedNeeds,
  type ServerFact,
  TerminalError,
  type ToolDefinition,
  type ToolSet,
  type ToolSpace,
  availableTools,
  restoreToolSet,
  toSnapshot,
  toToolSet,
} from '@rondo/domain';
import { type StoredToolSet, type ToolSets, toStoredToolSet } from '@rondo/persistence';
import { LruCache } from '@rondo/platform';

export interface RunToolSetsParts {
  readonly stored: Pick<ToolSets, 'keep' | 'find'>;
  /** The tools of this version. They give restored tools their code. */
  readonly builtIn: readonly ToolDefinition[];
  /**
   * All tools for a run that starts: the built-in ones by default. It returns the same array for the same tools where that
   * is cheap, since what is derived from them is cached by it. Ends early when the signal is aborted.
   */
  readonly catalogFor?: (claim: ClaimedRun, signal: AbortSignal) => Promise<Catalog>;
  /** What requests of a run have for definitions of tools. Absent: what most have. */
  readonly spaceFor?: (settings: RunSettings) => ToolSpace;
  /** What executors lack now. A run that starts is offered no tool that needs it. */
  readonly lacked?: () => LackedNeeds;
  readonly nowMs?: () => number;
}

export interface Catalog {
  readonly tools: readonly ToolDefinition[];
  /** What came of connecting to the servers that tools come from. */
  readonly servers?: readonly ServerFact[];
}

/** After so long the use of a set is noted again, so that it is not deleted as unused. */
const noteUseAfterMs = 3_600_000;
/** About 40 KB each. */
const maxRestored = 256;
const maxHashes = 4_096;

/** The tools of claimed runs. A run uses the set that it started with until its end, whatever the code of later holders offers. */
export class RunToolSets {
  /** By hash. Runs share them, and with them what dialects derive from their tools. */
  private readonly restored = new LruCache<string, Promise<ToolSet>>(maxRestored);
  private readonly keptAtMs = new LruCache<string, number>(maxHashes);
  /** By catalog, account and offered tools, because a hash takes longer than a look-up. */
  private readonly startSets = new WeakMap<readonly ToolDefinition[], LruCache<string, StoredToolSet>>();

  constructor(private readonly parts: RunToolSetsParts) {}

  /**
   * The set of a run that has started; for any other, the one that it starts with, whose snapshot is stored by then.
   * Rejects with TerminalError when the set of a run is lost.
   */
  async toolSetFor(claim: ClaimedRun, signal: AbortSignal = new AbortController().signal): Promise<ToolSet> {
    if (claim.toolSet !== null) return this.restore(claim.toolSet);
    const { started_at, settings } = claim.run;
    if (started_at !== null) return toToolSet(settings, this.parts.builtIn); // a version that stored no sets started it

    const catalog = (await this.parts.catalogFor?.(claim, signal)) ?? { tools: this.parts.builtIn };
    const set = this.startSet(claim, availableTools(catalog.tools, this.parts.lacked?.() ?? {}));
    await this.keep(set);
    const restored = await this.restore(set.hash, set);
    return catalog.servers ? { ...restored, servers: catalog.servers } : restored;
  }

  private startSet({ accountId, run: { settings } }: ClaimedRun, catalog: readonly ToolDefinition[]): StoredToolSet {
    const owner = isShared(catalog) && !settings.tool_policies && !settings.caller_tools ? null : accountId;
    const cache = this.startSets.get(catalog) ?? new LruCache<string, StoredToolSet>(maxRestored);
    this.startSets.set(catalog, cache);
    const space = isShared(catalog) ? undefined : this.parts.spaceFor?.(settings);
    const key = cacheKey(owner, settings, space);
    const known = cache.get(key);
    if (known) return known;
    const set = toStoredToolSet(toSnapshot(toToolSet(settings, catalog, space)), owner);
    cache.set(key, set);
    return set;
  }

  private async keep(set: StoredToolSet): Promise<void> {
    const nowMs = (this.parts.nowMs ?? Date.now)();
    const keptAtMs = this.keptAtMs.get(set.hash);
    if (keptAtMs !== undefined && nowMs - keptAtMs < noteUseAfterMs) return;
    await this.parts.stored.keep(set);
    this.keptAtMs.set(set.hash, nowMs);
  }

  /** A run that starts gets the restored set too, so that its prompts have the same bytes before and after a handover. */
  private restore(hash: string, known?: StoredToolSet): Promise<ToolSet> {
    const before = this.restored.get(hash);
    if (before) return before;
    const restored = this.load(hash, known);
    this.restored.set(hash, restored);
    restored.catch(() => this.restored.delete(hash)); // the next run that needs it tries again
    return restored;
  }

  private async load(hash: string, known?: StoredToolSet): Promise<ToolSet> {
    const snapshot = known?.snapshot ?? (await this.parts.stored.find(hash));
    if (!snapshot)
      throw new TerminalError('tool_set_lost', 'The tools that the run started with are no longer stored.');
    return { ...restoreToolSet(snapshot, this.parts.builtIn), hash };
  }
}

/** Tools of servers, agents and callers, and what an account says of tools, belong to it; all accounts share the other sets. */
const isShared = (catalog: readonly ToolDefinition[]): boolean =>
  catalog.every(({ source }) => source === undefined || source.kind === 'built_in');

const cacheKey = (
  owner: AccountId | null,
  { tools, tool_policies, caller_tools, termination }: RunSettings,
  space: ToolSpace | undefined,
): string => JSON.stringify([owner, tools, tool_policies, caller_tools, termination, space]);
