import { existsSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Command, UsageError } from '../command';
import { wholeLines } from '../evaluation/durable-file';
import { reportPage } from '../evaluation/report-page';
import { type TaskResult, resultOf, verdictOf } from '../evaluation/result';
import { type Summary, compareResults, summaryOf } from '../evaluation/summary';
import { intervalText, percent, sentenceOf } from '../evaluation/summary-text';

/** The results of a file. Errors name it. */
function resultsIn(file: string): TaskResult[] {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}.`);
  return wholeLines(file).map((line, index) => {
    const result = resultOf(line);
    if (!result) throw new UsageError(`${file}, line ${index + 1}: not a result of rondo eval run.`);
    return result;
  });
}

const verdictText = (verdict: boolean | undefined): string =>
  verdict === undefined ? 'unknown' : verdict ? 'right' : 'wrong';

export const evalScore: Command = {
  name: 'eval score',
  summary: 'Score the results of an evaluation, with a confidence interval',
  args: [{ name: 'RESULTS' }],
  run(given, { terminal }) {
    const results = resultsIn(given.args[0] ?? '');
    const summary = summaryOf(results);
    if (terminal.isJson) {
      const tasks = results.map((result) => ({ task_id: result.task_id, right: verdictOf(result) ?? null }));
      terminal.json({ ...summary, tasks: results.length, verdicts: tasks });
    } else {
      const rows = results.map((result) => [
        result.task_id,
        verdictText(verdictOf(result)),
        (result.agent_error ?? result.prediction ?? '').replaceAll(/\s+/g, ' ').slice(0, 60),
      ]);
      terminal.table([['TASK', 'ANSWER', ''], ...rows]);
      terminal.line(sentenceOf(summary));
    }
    return Promise.resolve('ok');
  },
};

export const evalCompare: Command = {
  name: 'eval compare',
  summary: 'Compare two evaluations by the tasks that both have',
  args: [{ name: 'BEFORE' }, { name: 'AFTER' }],
  run(given, { terminal }) {
    const [before = '', after = ''] = given.args;
    const found = compareResults(resultsIn(before), resultsIn(after));
    if (found.tasks === 0) throw new UsageError('The two files have no scored task in common.');
    if (terminal.isJson) terminal.json(found);
    else {
      for (const { taskId, change } of found.changes) terminal.line(`${change === 'gained' ? '+' : '-'} ${taskId}`);
      terminal.table([
        ['', 'BEFORE', 'AFTER'],
        ...rowsOf.map(([title, cell]) => [title, cell(found.before), cell(found.after)]),
      ]);
      const { difference, interval } = found;
      terminal.line(`Difference over ${found.tasks} tasks: ${percent(difference)} (95 %: ${intervalText(interval)})`);
    }
    return Promise.resolve('ok');
  },
};

const rowsOf: readonly (readonly [string, (summary: Summary) => string])[] = [
  ['right', ({ right, scored }) => `${right}/${scored}`],
  ['95 %', ({ interval }) => intervalText(interval)],
  ['errors', ({ errors }) => `${errors}`],
  ['cost', ({ costUsd, unpriced }) => `$${costUsd.toFixed(4)}${unpriced > 0 ? ` (${unpriced} unknown)` : ''}`],
  ['tokens', ({ inputTokens, outputTokens }) => `${inputTokens} + ${outputTokens}`],
  ['time', ({ seconds }) => `${seconds.toFixed(1)} s`],
];

export const evalReport: Command = {
  name: 'eval report',
  summary: 'Write one page with plots about evaluations',
  args: [{ name: 'RESULTS', repeatable: true }],
  options: [{ name: 'output', short: 'o', value: 'FILE', help: 'the page; standard output otherwise' }],
  run(given, { terminal }) {
    const page = reportPage(given.args.map((file) => ({ name: basename(file, '.jsonl'), results: resultsIn(file) })));
    const output = given.value('output');
    if (output === undefined) terminal.write(page);
    else writeFileSync(output, page);
    return Promise.resolve('ok');
  },
};
