import type { Fact, LogVerification } from './generated/api.ts';
import { LogHash } from './log-hash.ts';

/** What this reader computed over the facts that it received, beside what the gateway says of its log. */
export interface LogProof {
  /** The reader has the same log as the gateway, and no fact is missing in it. */
  readonly isProven: boolean;
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
  return { isProven: isSame && isContiguous && gateway.contiguous, count, isContiguous, hash, gateway };
}
