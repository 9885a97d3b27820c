import type { Elicitation, InputAnswer, Waiting, InboxItem } from '@rondo/client';
import { type Command, type Context, type Given, UsageError } from '../command';
import { followRun } from '../follow-run';
import { readObject } from '../json-object';
import { nextStep } from '../next-step';

export const answer: Command = {
  name: 'answer',
  summary: 'Answer the question of a run that waits',
  args: [{ name: 'RUN' }, { name: 'TEXT', optional: true }],
  options: [
    {
      name: 'accept',
      value: 'JSON',
      help: 'fills in the form of an MCP server: an object, {} for a page that you have opened',
    },
    { name: 'decline', help: 'says no to an MCP server' },
    { name: 'watch', short: 'w', help: 'then show the run until it ends' },
  ],
  details:
    'Without TEXT the question is shown and asked at the terminal, or the answer is read from a pipe. What an MCP server asks is ' +
    'answered with --accept or --decline, and shown without them.',
  async run(given, context) {
    const { rondo, terminal } = context;
    const [id = '', text] = given.args;
    const before = await rondo().runs.get(id);
    if (before.waiting?.reason === 'elicitation') {
      await answerServer(before.waiting, given, context);
      if (given.has('watch')) return followRun(id, { after: before.last_seq, onInterrupt: 'leave' }, context);
      if (terminal.isJson) terminal.json(await rondo().runs.get(id));
      else terminal.line(`${id} has the answer. rondo watch ${id}`);
      return 'ok';
    }
    if (text === undefined && before.waiting?.reason !== 'ask') {
      terminal.complain(
        before.waiting ? `${id} waits for something else: ${nextStep(id, before.waiting)}` : `${id} does not wait.`,
      );
      return 'failed';
    }
    const question = before.waiting?.question?.text ?? '';
    const content = text ?? (terminal.canAsk ? await terminal.ask(`? ${question}\n> `) : await terminal.readPiped());
    if (content === undefined || content.trim() === '') throw new UsageError('Give the answer: rondo answer RUN "…"');
    const run = await rondo().runs.answer(id, content);
    if (given.has('watch')) return followRun(id, { after: before.last_seq, onInterrupt: 'leave' }, context);
    if (terminal.isJson) terminal.json(run);
    else terminal.line(`${run.id} goes on. rondo watch ${run.id}`);
    return 'ok';
  },
};

/** The first of the questions. A page is opened by the person: only its address is shown. */
async function answerServer(
  { elicitations: [asked] = [] }: Waiting,
  given: Given,
  { rondo, terminal }: Context,
): Promise<void> {
  const accepted = given.value('accept');
  if (!asked || (accepted === undefined && !given.has('decline'))) {
    if (asked) terminal.note(describeElicitation(asked));
    throw new UsageError("Give the answer: rondo answer RUN --accept '{…}', or --decline");
  }
  const content = accepted === undefined ? undefined : readContent(accepted);
  await rondo().runs.giveInput(asked.tool_call_id, {
    ...{ key: asked.key, action: content ? 'accept' : 'decline' },
    ...(content && asked.mode === 'form' && { content }),
  });
}

const describeElicitation = ({ server, message, url, fields = {} }: Elicitation): string =>
  [
    `The MCP server "${server}" asks: ${message}`,
    ...(url === undefined ? [] : [url]),
    ...Object.entries(fields).map(
      ([name, { type, required, title = '', options }]) =>
        `  ${name}: ${options ? options.map(({ value }) => value).join(' | ') : type}${required ? '' : ', optional'} ${title}`,
    ),
  ].join('\n');

function readContent(text: string): NonNullable<InputAnswer['content']> {
  const content = readObject(text);
  if (content) return content as NonNullable<InputAnswer['content']>; // the gateway checks its fields
  throw new UsageError('--accept takes a JSON object: the values by the names of the fields.');
}

export const resolve: Command = {
  name: 'resolve',
  summary: 'Say what became of a tool call whose outcome is unknown',
  args: [{ name: 'CALL' }, { name: 'OUTCOME' }],
  options: [{ name: 'output', value: 'TEXT', help: 'added to the result that the model gets' }],
  details: 'OUTCOME is `completed` (it took effect), `not_applied` (it did not) or `retry` (send it again).',
  async run(given, { rondo, terminal }) {
    const [id = '', outcome] = given.args;
    const output = given.value('output');
    if (outcome !== 'completed' && outcome !== 'not_applied' && outcome !== 'retry')
      throw new UsageError('OUTCOME is completed, not_applied or retry.');
    const call = await rondo().runs.resolve(id, { outcome, ...(output !== undefined && { output }) });
    if (terminal.isJson) terminal.json(call);
    else terminal.line(`${call.id} ${call.status}. rondo watch ${call.run_id}`);
    return 'ok';
  },
};

const about = ({ waiting }: InboxItem): string =>
  waiting.question?.text ??
  waiting.approvals?.map(({ name }) => name).join(', ') ??
  waiting.elicitations?.map(({ message }) => message).join(' · ') ??
  '';

export const inbox: Command = {
  name: 'inbox',
  summary: 'List the runs that wait for a person, oldest first',
  async run(_, { rondo, terminal }) {
    for await (const item of rondo().approvals.inbox()) {
      if (terminal.isJson) terminal.json(item);
      else terminal.line(`${item.id}  ${item.waiting.reason}: ${about(item)}\n  → ${nextStep(item.id, item.waiting)}`);
    }
    return 'ok';
  },
};
