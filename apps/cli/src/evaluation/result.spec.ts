import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../command';
import { readResults } from './result';

const file = join(mkdtempSync(join(tmpdir(), 'results-')), 'joined.jsonl');
const toLine = (taskId: string) => `${JSON.stringify({ task_id: taskId, run_id: 'run_1', scorer: 'gaia' })}\n`;

describe('a file of results', () => {
  it('is refused where a task is in it twice', () => {
    writeFileSync(file, ['a', 'b'].map(toLine).join(''));
    expect(readResults(file).map(({ task_id: id }) => id)).toEqual(['a', 'b']);

    writeFileSync(file, ['a', 'b', 'a'].map(toLine).join(''));
    expect(() => readResults(file)).toThrow(new UsageError(`${file}, line 3: there is already a result of a.`));
  });
});
