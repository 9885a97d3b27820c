import type { Fact, LogVerification } from './generated/api.ts';
import { LogHash, proveLog } from './verify-run.ts';

const toFact = (seq: number) => ({ seq, type: 'iteration.started' }) as unknown as Fact; // only `seq` is read

// eslint-disable-next-line @typescript-eslint/require-await -- what proves takes facts as they arrive
async function* read(...seqs: number[]) {
  yield* seqs.map(toFact);
}

/** What a gateway says of a log with these facts whose run has written `head` facts. */
async function told(head: number, ...seqs: number[]): Promise<LogVerification> {
  const log = new LogHash();
  for (const seq of seqs) await log.add(toFact(seq));
  const { hash, count } = log;
  const contiguous = log.isContiguous && (seqs.at(-1) ?? 0) === head;
  return { first: seqs[0] ?? null, last: seqs.at(-1) ?? null, count, head_seq: head, contiguous, hash };
}

describe('a proof', () => {
  it('names the first fact that is missing', async () => {
    const prove = async (head: number, ...seqs: number[]) => proveLog(await told(head, ...seqs), read(...seqs));

    expect(await prove(3, 1, 2, 3)).toMatchObject({ isProven: true, missing: undefined });
    expect(await prove(4, 1, 2, 4)).toMatchObject({ isProven: false, missing: 3 });
    expect(await prove(4, 3, 4)).toMatchObject({ isProven: false, missing: 1 });
    expect(await prove(5, 1, 2)).toMatchObject({ isProven: false, missing: 3 });
    expect(await prove(2)).toMatchObject({ isProven: false, missing: 1 });
    expect(await prove(2, 1, 2, 3)).toMatchObject({ isProven: false, missing: undefined });
  });

  it('is none where the gateway shows something else than its log', async () => {
    const gateway = {
      ...(await told(3, 1, 2, 3)),
      differences: ['the run: status is "failed", and by the log "completed"'],
    };
    expect(await proveLog(gateway, read(1, 2, 3))).toMatchObject({ isProven: false, missing: undefined, count: 3 });
  });

  it('is none of another log', async () => {
    expect(await proveLog(await told(3, 1, 2, 3), read(1, 2))).toMatchObject({ isProven: false, count: 2 });
  });
});
