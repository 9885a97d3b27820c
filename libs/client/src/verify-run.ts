import type { Fact, LogVerification } from './generated/api.ts';

const encoder = new TextEncoder();

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The hash chain over a log: the hash of a fact is the SHA-256 of the previous hash (64 hex digits, empty before the first)
 * and the fact's JSON. It needs no gateway, so a reader can compute it over facts that it kept.
 */
export class LogHash {
  private value: string;
  private lastSeq: number;
  private facts = 0;
  /** The first fact that is missing before another one. */
  missing: number | undefined;

  /** `trimmed`: the last fact that retention has deleted, and the chain up to it. */
  constructor(trimmed: { readonly through: number; readonly hash: string } = { through: 0, hash: '' }) {
    this.value = trimmed.hash;
    this.lastSeq = trimmed.through;
  }

  async add(fact: Fact): Promise<void> {
    if (fact.seq !== this.lastSeq + 1) this.missing ??= this.lastSeq + 1;
    this.lastSeq = fact.seq;
    this.facts++;
    this.value = await sha256(this.value + JSON.stringify(fact));
  }

  get hash(): string {
    return this.value;
  }

  get count(): number {
    return this.facts;
  }

  get isContiguous(): boolean {
    return !this.missing;
  }
}

/** What this reader computed over the facts that it received, beside what the gateway says of its log. */
export interface LogProof {
  /** The reader has the same log as the gateway, no fact is missing in it, and nothing that the gateway shows contradicts it. */
  readonly isProven: boolean;
  /** The first fact that the log should have and has not. */
  readonly missing: number | undefined;
  readonly count: number;
  readonly isContiguous: boolean;
  readonly hash: string;
  readonly gateway: LogVerification;
}

/** Reads facts through `gateway.last` and compares. A run that goes on has more facts then; they are not part of the proof. */
export async function proveLog(gateway: LogVerification, facts: AsyncIterable<Fact>): Promise<LogProof> {
  const log = new LogHash(gateway.trimmed);
  const { last } = gateway;
  if (last !== null) {
    for await (const fact of facts) {
      if (fact.seq <= last) await log.add(fact);
      if (fact.seq >= last) break;
    }
  }
  const { count, isContiguous, hash } = log;
  const isSame = hash === gateway.hash && count === gateway.count;
  const next = (last ?? 0) + 1;
  const missing = log.missing ?? (next > (gateway.head_seq ?? 0) ? undefined : next);
  const isProven = isSame && isContiguous && gateway.contiguous && !gateway.differences;
  return { isProven, missing, count, isContiguous, hash, gateway };
}
