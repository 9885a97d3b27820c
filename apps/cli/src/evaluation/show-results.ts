import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Context, type Given, UsageError } from '../command';
import type { Ending } from '../exit-codes';
import { readCount } from '../parse-arguments';
import { findScorer } from './task';
import { judgeAnswers } from './judge-answers';
import { defaultJudgePrompt } from './judge-question';
import { Progress } from './progress';
import { readJudgements, readResults } from './result';
import { reportPage } from './report-page';
import { type ScoredResult, needsJudge, scoreResults } from './scored-result';
import { storeResults } from './store-results';
import {
  type Summary,
  compareResults,
  listLevels,
  toSummary,
  costText,
  intervalText,
  percent,
  scoreText,
  toSentence,
} from './summary';
import { untilInterrupted } from './until-interrupted';

const readScoredFile = (file: string, given: Given): ScoredResult[] =>
  scoreResults(readResults(file), { judgements: readJudgements(file), scorer: findScorer(given) });

/** Asks the judge first, where a model is named. */
export async function scoreFile(given: Given, context: Context): Promise<Ending> {
  const { terminal } = context;
  const file = given.args[0] ?? '';
  if (!(await judgeFile(file, given, context))) return 'interrupted';
  const results = readScoredFile(file, given);
  if (given.has('judge-model')) await storeResults(file, results, { rondo: context.rondo(), terminal });
  const summary = toSummary(results);
  if (terminal.isJson) {
    const verdicts = results.map(({ task_id: id, verdict, judgement }) => ({
      ...{ task_id: id, verdict },
      ...(judgement && { reason: judgement.reason, judge_run_id: judgement.run_id }),
    }));
    terminal.json({ ...summary, levels: listLevels(results), verdicts });
  } else {
    const rows = results.map((result) => [result.task_id, result.verdict, aboutAnswer(result)]);
    terminal.table([['TASK', 'ANSWER', ''], ...rows]);
    for (const { level, summary: ofLevel } of listLevels(results))
      terminal.line(`Level ${level}: ${scoreText(ofLevel)}`);
    terminal.line(toSentence(summary));
    for (const hint of judgeHints(results)) terminal.note(hint);
  }
  return 'ok';
}

function aboutAnswer({ verdict, judgement, agent_error: error, prediction }: ScoredResult): string {
  const unread = verdict === 'unjudged' ? judgement?.reason : undefined;
  return (error ?? unread ?? prediction ?? '').replaceAll(/\s+/g, ' ').slice(0, 60);
}

function judgeHints(results: readonly ScoredResult[]): string[] {
  const unjudged = results.filter(({ verdict }) => verdict === 'unjudged');
  return [
    ...(unjudged.some(({ judgement }) => judgement === null) ? ['--judge-model MODEL asks a judge.'] : []),
    ...(unjudged.some(({ judgement }) => judgement !== null)
      ? ['--judge-model MODEL --retry-errors asks again where there is no verdict.']
      : []),
  ];
}

/** False if it was interrupted. */
async function judgeFile(file: string, given: Given, { rondo, terminal }: Context): Promise<boolean> {
  const model = given.value('judge-model');
  const promptFile = given.value('judge-prompt');
  if (model === undefined) {
    if (promptFile !== undefined) throw new UsageError('--judge-prompt needs --judge-model.');
    return true;
  }
  const results = scoreResults(readResults(file), { scorer: findScorer(given) }).filter(needsJudge);
  if (results.length === 0)
    throw new UsageError('No task has the scorer judge and an answer. All are judged with --scorer judge.');
  const concurrency = readCount(given, 'concurrency', 1) ?? 1;
  const judging = {
    ...{ path: file, results, model, concurrency, retry: given.has('retry-errors'), rondo: rondo() },
    prompt: promptFile === undefined ? defaultJudgePrompt : readFileSync(promptFile, 'utf8'),
    toProgress: (total: number) => new Progress(terminal, total, { concurrency }),
  };
  return (await untilInterrupted(terminal, (signal) => judgeAnswers({ ...judging, signal }))) !== undefined;
}

export function compareFiles(given: Given, { terminal }: Context): Promise<Ending> {
  const [before = '', after = ''] = given.args;
  const found = compareResults(readScoredFile(before, given), readScoredFile(after, given));
  if (found.tasks === 0) throw new UsageError('The two files have no scored task in common.');
  if (terminal.isJson) terminal.json(found);
  else {
    for (const { taskId, change } of found.changes) terminal.line(`${change === 'gained' ? '+' : '-'} ${taskId}`);
    terminal.table([
      ['', 'BEFORE', 'AFTER'],
      ...summaryRows.map(([title, cell]) => [title, cell(found.before), cell(found.after)]),
    ]);
    const { difference, interval } = found;
    terminal.line(`Difference over ${found.tasks} tasks: ${percent(difference)} (95 %: ${intervalText(interval)})`);
  }
  return Promise.resolve('ok');
}

const summaryRows: readonly (readonly [string, (summary: Summary) => string])[] = [
  ['right', ({ right, scored: known }) => `${right}/${known}`],
  ['95 %', ({ interval }) => intervalText(interval)],
  ['errors', ({ errors }) => `${errors}`],
  ['cost', ({ costUsd, unpriced }) => costText(costUsd, unpriced)],
  ['cost of the judge', ({ judging }) => (judging.answers === 0 ? '' : costText(judging.costUsd, judging.unpriced))],
  ['tokens', ({ inputTokens, outputTokens }) => `${inputTokens} + ${outputTokens}`],
  ['time', ({ seconds }) => `${seconds.toFixed(1)} s`],
];

export function writeReport(given: Given, { terminal }: Context): Promise<Ending> {
  const page = reportPage(
    given.args.map((file) => ({ name: basename(file, '.jsonl'), results: readScoredFile(file, given) })),
  );
  const output = given.value('output');
  if (output === undefined) terminal.write(page);
  else writeFileSync(output, page);
  return Promise.resolve('ok');
}
