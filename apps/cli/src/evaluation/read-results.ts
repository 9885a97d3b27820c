import { existsSync } from 'node:fs';
import { UsageError } from '../command';
import { wholeLines } from '../durable-file';
import { type Judgement, findJudgement, judgementsPath } from './judgement';
import { type TaskResult, findResult } from './result';

/** The results of a file. Errors name it. */
export function readResults(file: string): TaskResult[] {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}.`);
  return wholeLines(file).map((line, index) => {
    const result = findResult(line);
    if (!result) throw new UsageError(`${file}, line ${index + 1}: not a result of rondo eval run.`);
    return result;
  });
}

/** What a judge has said about the results of a file, so far. */
export const readJudgements = (file: string): Judgement[] =>
  wholeLines(judgementsPath(file)).flatMap((line) => findJudgement(line) ?? []);
