import { createHash } from 'node:crypto';
import type { ExecutorResult } from '@rondo/contract';
import type { ToolDefinition } from '@rondo/domain';
import { LruCache } from '@rondo/platform';
import { sortKeys } from '../sort-keys';

/** Tools whose results may be given again: they are pure, and what they read is outside the sandbox. */
const cachedTools: readonly string[] = ['web_search', 'visit_webpage', 'execute_data_provider_call'];

interface CacheableCall {
  readonly tool: Pick<ToolDefinition, 'name' | 'alias'>;
  /** As the tool's schema has parsed it. */
  readonly input: unknown;
  readonly account: string;
}

interface CacheLimits {
  /** Without it, no result is kept. */
  readonly ttlS?: number | undefined;
  readonly results: number;
  readonly nowMs?: () => number;
}

interface KeptResult {
  readonly result: ExecutorResult;
  readonly atMs: number;
}

/**
 * Successful results of this process, for a while and for the account that made the call. They end with the process, so
 * that no result of another version of a tool is among them.
 */
export class ResultCache {
  private readonly kept: LruCache<string, KeptResult>;
  private readonly ttlMs: number;
  private readonly nowMs: () => number;

  constructor({ ttlS = 0, results, nowMs = Date.now }: CacheLimits) {
    this.kept = new LruCache(results);
    this.ttlMs = ttlS * 1_000;
    this.nowMs = nowMs;
  }

  /** A kept result, which says that it is one, or the result of `work`. */
  async readResult(call: CacheableCall, work: () => Promise<ExecutorResult>): Promise<ExecutorResult> {
    const { name, alias } = call.tool;
    if (this.ttlMs === 0 || !cachedTools.includes(alias?.of ?? name)) return work();

    const key = toKey(call);
    const known = this.kept.get(key);
    if (known && this.ageMs(known) < this.ttlMs) return this.repeatResult(known);
    const atMs = this.nowMs();
    const result = await work();
    if (result.success) this.kept.set(key, { result, atMs });
    return result;
  }

  private repeatResult(kept: KeptResult): ExecutorResult {
    const note = `[from the cache, ${Math.round(this.ageMs(kept) / 1_000)} s old]`;
    const { result, atMs } = kept;
    return { ...result, output: `${note}\n${result.output}`, cached_at: new Date(atMs).toISOString() };
  }

  private ageMs = ({ atMs }: KeptResult): number => this.nowMs() - atMs;
}

const toKey = ({ tool, input, account }: CacheableCall): string =>
  createHash('sha256')
    .update(JSON.stringify([account, tool.name, sortKeys(input)]))
    .digest('hex');
