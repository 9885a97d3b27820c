import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Rondo, RondoError } from '@rondo/client';
import { z } from 'zod';
import { agentDefinition, message, recordedFact, run as runSchema } from '@rondo/contract';
import { type Context, type Given, UsageError } from '../command';
import { findGateway } from '../config';
import { replaceLines } from '../durable-file';
import type { Ending } from '../exit-codes';
import type { Terminal } from '../terminal';
import { type EndedRun, makeRecording } from './make-recording';
import { type RecordedTask, UnrecordableError } from './recording';
import { linesOfRecording, readRecording } from './recording-file';

/** A run to record, and the name of its file. */
interface RunToPin {
  readonly runId: string;
  readonly name: string;
  readonly task: RecordedTask | null;
}

interface Pinning {
  readonly into: string;
  readonly rondo: Rondo;
  readonly terminal: Terminal;
  /** The key of the gateway, which no file may have. */
  readonly key: string;
  /** Says only what cannot be recorded. */
  readonly isQuiet: boolean;
}

const toPinning = (into: string, given: Given, { rondo, terminal }: Context) => {
  const { key } = findGateway({ url: given.value('url'), key: given.value('key') });
  return { into, rondo: rondo(), terminal, key: key() };
};

/** Records runs, or those of all tasks of a result file, each into a file of its own. `failed` if one cannot be recorded. */
export async function pinRuns(given: Given, context: Context): Promise<Ending> {
  const runs = given.args.flatMap((target) =>
    existsSync(target) ? resultsIn(target).map(toRun) : [{ runId: target, name: target, task: null }],
  );
  return recordAll(runs, { ...toPinning(given.value('into') ?? 'recordings', given, context), isQuiet: false });
}

export interface ResultsToPin {
  readonly results: readonly Result[];
  readonly into: string;
}

/** Records the runs of an evaluation's results that have no recording in the folder yet. */
export async function pinResults({ results, into }: ResultsToPin, given: Given, context: Context): Promise<Ending> {
  const runs = results.map(toRun).filter(({ runId, name }) => !isRecording(runId, toFile(into, name)));
  return recordAll(runs, { ...toPinning(into, given, context), isQuiet: true });
}

/** Records one after the other, and says of each that cannot be recorded why. */
async function recordAll(runs: readonly RunToPin[], pinning: Pinning): Promise<Ending> {
  let recorded = 0;
  for (const run of runs) {
    const outcome = await record(run, pinning);
    if ('file' in outcome) recorded += 1;
    tell(run, outcome, pinning);
  }
  return recorded === runs.length ? 'ok' : 'failed';
}

type Outcome = { readonly file: string } | { readonly problem: string };

function tell({ runId }: RunToPin, outcome: Outcome, { terminal, isQuiet }: Pinning): void {
  if (terminal.isJson && !isQuiet) terminal.json({ run_id: runId, file: null, problem: null, ...outcome });
  else if ('problem' in outcome) terminal.complain(`${runId} cannot be recorded: ${outcome.problem}.`);
  else if (!isQuiet) terminal.line(outcome.file);
}

async function record({ runId, name, task }: RunToPin, { into, rondo, key }: Pinning): Promise<Outcome> {
  const file = toFile(into, name);
  try {
    const lines = linesOfRecording(await makeRecording(await readRun(runId, rondo), task));
    const secret = lines.findIndex((line) => line.includes(key));
    if (secret >= 0) return { problem: `line ${secret + 1} would have the API key` };
    mkdirSync(into, { recursive: true });
    replaceLines(file, lines);
    return { file };
  } catch (error) {
    if (error instanceof UnrecordableError) return { problem: error.message };
    if (error instanceof RondoError && error.status === 404) return { problem: 'the gateway does not have it' };
    throw error;
  }
}

/** A name from elsewhere must not lead out of the folder. */
const toFile = (into: string, name: string): string => join(into, `${encodeURIComponent(name)}.jsonl`);

function isRecording(runId: string, file: string): boolean {
  if (!existsSync(file)) return false;
  return readRecording(readFileSync(file, 'utf8'), file).run.id === runId;
}

const result = z.object({
  run_id: z.string(),
  task_id: z.string(),
  question: z.string(),
  augmented_question: z.string(),
});
type Result = z.infer<typeof result>;

const toRun = ({ run_id: runId, task_id, question, augmented_question: input }: Result): RunToPin => ({
  runId,
  name: task_id,
  task: { task_id, question, input },
});

/** The tasks in a file that `rondo eval run` wrote. */
function resultsIn(file: string): Result[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, index) => (line.trim() === '' ? [] : [resultIn(line, `${file}, line ${index + 1}`)]));
}

function resultIn(line: string, where: string): Result {
  try {
    const parsed = result.safeParse(JSON.parse(line));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new UsageError(`${where}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`${where} is not a result of rondo eval run.`);
  }
}

/** The run with its log, the messages before it and its agent, from the gateway. */
async function readRun(id: string, rondo: Rondo): Promise<EndedRun> {
  const run = runSchema.parse(await rondo.runs.get(id));
  const facts = (await readList(rondo.runs.facts(id))).map((fact) => recordedFact.parse(fact));
  return { run, facts, agent: await findAgent(run, rondo), earlier: await readEarlierMessages(run, facts, rondo) };
}

type Read = Pick<EndedRun, 'run' | 'facts'>;

async function findAgent(
  { agent_id: id, agent_version: version }: Read['run'],
  rondo: Rondo,
): Promise<EndedRun['agent']> {
  if (id === null) return null;
  for await (const one of rondo.agents.versions(id))
    if (one.version === version) return agentDefinition.parse(one.definition);
  return null;
}

/** The messages of the thread that the model sees before those of the run. */
async function readEarlierMessages(
  { id, thread_id: thread }: Read['run'],
  facts: Read['facts'],
  rondo: Rondo,
): Promise<EndedRun['earlier']> {
  const own = facts.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message.seq] : []));
  const first = Math.min(...own);
  if (first <= 1) return [];
  const all = await readList(rondo.threads.messages(thread, { llm_only: true }));
  return all.map((one) => message.parse(one)).filter(({ run_id: runId, seq }) => runId !== id && seq < first);
}

async function readList<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}
