import { type Command, UsageError } from '../command';
import { followRun } from '../follow-run';

export const answer: Command = {
  name: 'answer',
  summary: 'Answer the question of a run that waits',
  args: [{ name: 'RUN' }, { name: 'TEXT', optional: true }],
  options: [{ name: 'watch', short: 'w', help: 'then show the run until it ends' }],
  details: 'Without TEXT the question is shown and asked at the terminal, or the answer is read from a pipe.',
  async run(given, context) {
    const { rondo, terminal } = context;
    const [id = '', text] = given.args;
    const before = await rondo().runs.get(id);
    const question = before.waiting?.question?.text ?? 'The run does not wait.';
    const content = text ?? (terminal.canAsk ? await terminal.ask(`? ${question}\n> `) : await terminal.piped());
    if (content === undefined || content.trim() === '') throw new UsageError('Give the answer: rondo answer RUN "…"');
    const run = await rondo().runs.answer(id, content);
    if (given.has('watch')) return followRun(id, { after: before.last_seq, onInterrupt: 'leave' }, context);
    if (terminal.isJson) terminal.json(run);
    else terminal.line(`${run.id} goes on. rondo watch ${run.id}`);
    return 'ok';
  },
};

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
