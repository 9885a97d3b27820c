import type { RecordedFact } from '@rondo/contract';
import { verifyLog } from './verify-log';

const facts = (...seqs: number[]) =>
  seqs.map((seq) => ({ seq, type: 'run.started', data: {} }) as unknown as RecordedFact); // only `seq` is looked at

/** A log with these facts whose run has written `headSeq` of them. */
async function verify(headSeq: number, seqs: readonly number[], trimmed?: { through: number; hash: string }) {
  // eslint-disable-next-line @typescript-eslint/require-await -- as a database would read it
  async function* pages() {
    yield { epoch: 1, headSeq, facts: facts(...seqs), trimmed };
  }
  const rows = { add: () => undefined, listDifferences: () => [] };
  return verifyLog(pages(), { rows, readRewindsAt: () => Promise.resolve([]) });
}

describe('a log', () => {
  it.each([
    ['has all that its run has written', 3, [1, 2, 3], true],
    ['lacks one between others', 3, [1, 3], false],
    ['lacks the first', 3, [2, 3], false],
    ['lacks the last', 3, [1, 2], false],
    ['lacks all', 3, [], false],
    ['has one more than its run has written', 3, [1, 2, 3, 4], false],
  ])('that %s', async (_, headSeq, seqs, contiguous) => {
    expect(await verify(headSeq, seqs)).toMatchObject({ head_seq: headSeq, count: seqs.length, contiguous });
  });

  it('whose first facts retention has deleted is whole from there to its end', async () => {
    const trimmed = { through: 4, hash: 'a' };
    expect(await verify(6, [5, 6], trimmed)).toMatchObject({ contiguous: true, trimmed });
    expect(await verify(7, [5, 6], trimmed)).toMatchObject({ contiguous: false, trimmed });
  });
});
