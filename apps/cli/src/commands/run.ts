import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { detach, followBegun } from '../begun-run';
import { type Command, type Context, type Given, UsageError } from '../command';
import type { Ending } from '../exit-codes';
import { followRun } from '../follow-run';
import { readLocalTools, toDefinitions } from '../local-tools';
import { isComplete, receiptLines } from '../show-run';

async function readInput(given: Given, { terminal }: Context): Promise<string> {
  const [text] = given.args;
  const piped = text === undefined || text === '-' ? await terminal.readPiped() : undefined;
  const input = piped ?? (text === '-' ? undefined : text);
  if (input === undefined || input.trim() === '') throw new UsageError('Say what to do: rondo run "…", or pipe it.');
  return input;
}

/** Puts files into the sandbox of the thread, under their own names. */
async function uploadFiles(files: readonly string[], threadId: string, { rondo, terminal }: Context): Promise<void> {
  const sandbox = await rondo().sandboxes.ofThread(threadId);
  for (const file of files) {
    const content = new Uint8Array(await readFile(file));
    const { size } = await rondo().sandboxes.writeFile(sandbox.id, { path: basename(file), content });
    terminal.note(`↑ ${basename(file)} (${size} bytes)`, 'dim');
  }
}

/** What becomes of the input where the conversation has an active run. */
function readOnActiveRun(given: Given): string | undefined {
  const wanted = given.value('on-active-run');
  if (wanted === undefined) return undefined;
  if (!given.has('thread')) throw new UsageError('--on-active-run is about a conversation: name it with --thread.');
  if (wanted === 'steer' && given.has('tool'))
    throw new UsageError('A run at work has its tools already: leave out --tool, or say --on-active-run queue.');
  return wanted;
}

interface Told {
  readonly runId: string;
  /** The run that begins with the message if the other one ends before it has read it. */
  readonly queuedId: string;
}

/** Shows a run that was told something, to its end. If it has not read the message then, shows the run that begins with it. */
async function followTold({ runId, queuedId }: Told, context: Context): Promise<Ending> {
  const { terminal, rondo } = context;
  const ending = await followRun(runId, { onInterrupt: 'ask' }, context);
  if (ending === 'interrupted' || ending === 'waiting') return ending;
  const { status, started_at } = await rondo().runs.get(queuedId);
  if (status === 'stopped' && started_at === null) return ending;
  terminal.note(`${runId} ended before it read this: ${queuedId} begins with it`, 'yellow');
  return followRun(queuedId, { onInterrupt: 'ask' }, context);
}

export const run: Command = {
  name: 'run',
  summary: 'Start a run and show it live, until it ends or asks',
  args: [{ name: 'INPUT', optional: true }],
  options: [
    {
      name: 'model',
      short: 'm',
      value: 'MODEL',
      help: 'for example openai/gpt-5; the default of the deployment otherwise',
    },
    { name: 'thread', short: 't', value: 'THREAD', help: 'continue this conversation' },
    { name: 'project', value: 'PROJECT', help: 'begin the conversation in this project' },
    { name: 'file', short: 'f', value: 'FILE', repeatable: true, help: 'put this file into the sandbox first' },
    {
      name: 'tool',
      value: 'NAME=SCRIPT',
      repeatable: true,
      help: 'a tool that this command runs here, with the arguments as JSON on its standard input',
    },
    { name: 'profile', value: 'PROFILE', help: 'suna, ii or symphony' },
    {
      name: 'on-active-run',
      value: 'WAY',
      help: 'with --thread, if a run is active there: reject (the default), queue, replace or steer',
    },
    detach,
  ],
  details:
    'Without INPUT, or with `-`, the input is read from a pipe. The text of the model goes to standard output, what its tools ' +
    'do to standard error. Ctrl-C asks whether to stop the run; without a terminal it leaves, and the run goes on. What a SCRIPT prints is the result ' +
    'of its call, and SCRIPT.json beside it tells the model `description` and `parameters`. With `--on-active-run steer` the run ' +
    'at work reads INPUT before it goes on, and is shown from its beginning; if it ends without having read it, the run that ' +
    'begins with INPUT is shown after it.',
  async run(given, context) {
    const { rondo, terminal } = context;
    const onActiveRun = readOnActiveRun(given);
    const input = await readInput(given, context);
    const files = given.values('file');
    const tools = await readLocalTools(given.values('tool'));
    if (given.has('detach') && given.has('tool'))
      throw new UsageError('A run with --tool needs this command: leave out -d.');
    const project = given.value('project');
    const of = project === undefined ? {} : { project_id: project };
    const thread = given.value('thread') ?? (files.length > 0 ? (await rondo().threads.create(of)).id : undefined);
    if (thread !== undefined && files.length > 0) await uploadFiles(files, thread, context);
    const model = given.value('model');
    const profile = given.value('profile');
    const created = await rondo().runs.create({
      input,
      ...(model !== undefined && { model }),
      ...(thread === undefined ? of : { thread_id: thread }),
      ...(profile !== undefined && { profile: profile as 'suna' }), // the gateway refuses one that it does not have
      ...(given.has('tool') && { caller_tools: toDefinitions(tools) }),
      ...(onActiveRun !== undefined && { on_active_run: onActiveRun as 'steer' }), // as above
    });
    const { steered } = created;
    if (steered) terminal.note(`${created.id} is at work, and was told`, 'dim');
    if (steered && !given.has('detach'))
      return followTold({ runId: created.id, queuedId: steered.queued_run_id }, context);
    return followBegun(created, { given, tools }, context);
  },
};

/** The run that is named, or the newest. */
async function readRun(name: string | undefined, { rondo }: Context): Promise<string> {
  if (name !== undefined) return name;
  for await (const { id } of rondo().runs.list({ limit: 1 })) return id;
  throw new UsageError('There is no run yet.');
}

export const watch: Command = {
  name: 'watch',
  summary: 'Show a run live, from its beginning; the newest run unless one is named',
  args: [{ name: 'RUN', optional: true }],
  options: [{ name: 'from', value: 'SEQ', help: 'begin after this fact' }],
  details: 'A connection that is cut is made again and continues where it was. Ctrl-C leaves; the run goes on.',
  async run(given, context) {
    const after = Number(given.value('from') ?? 0);
    if (!Number.isInteger(after) || after < 0) throw new UsageError('--from takes the seq of a fact.');
    return followRun(await readRun(given.args[0], context), { after, onInterrupt: 'leave' }, context);
  },
};

export const stop: Command = {
  name: 'stop',
  summary: 'Stop runs, wait until everything has ended, and print the receipts',
  args: [{ name: 'RUN', repeatable: true }],
  options: [
    { name: 'reason', value: 'TEXT', help: 'kept with the run' },
    { name: 'error', value: 'TEXT', help: 'what went wrong: the runs end as failed' },
  ],
  details: 'Succeeds only if everything that ran was seen dead. A run that had ended before has no receipt.',
  async run(given, { rondo, terminal }) {
    const [reason, error] = [given.value('reason'), given.value('error')];
    const words = { ...(reason !== undefined && { reason }), ...(error !== undefined && { error }) };
    const outcomes = await Promise.allSettled(given.args.map((id) => rondo().runs.stop(id, words)));
    const stopped = outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    for (const { run, receipt } of stopped) {
      if (terminal.isJson) terminal.json({ run_id: run.id, status: run.status, receipt });
      else terminal.line([`${run.id} ${run.status}`, ...(receipt ? receiptLines(receipt) : [])].join('\n'));
    }
    const [refused] = outcomes.filter((one) => one.status === 'rejected');
    if (refused) throw refused.reason as Error; // what the client rejects with
    return stopped.every(({ receipt }) => receipt === null || isComplete(receipt)) ? 'ok' : 'failed';
  },
};
