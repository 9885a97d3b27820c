import type { Command, Context } from '../command';
import type { Ending } from '../exit-codes';
import { followRun } from '../follow-run';

interface Conversation {
  readonly threadId: string;
  readonly model: string | undefined;
}

/** One run for what was said. */
async function turn(input: string, { threadId, model }: Conversation, context: Context): Promise<Ending> {
  const created = await context
    .rondo()
    .runs.create({ input, thread_id: threadId, ...(model !== undefined && { model }) });
  return followRun(created.id, { onInterrupt: 'stop' }, context);
}

export const chat: Command = {
  name: 'chat',
  summary: 'A conversation: each line is a run on the same thread',
  options: [
    { name: 'model', short: 'm', value: 'MODEL', help: 'the model of its runs' },
    { name: 'thread', short: 't', value: 'THREAD', help: 'continue this conversation' },
  ],
  details:
    'Ctrl-C stops the run that is going on, and at the prompt it leaves, as Ctrl-D does. In a pipe, each line is said.',
  async run(given, context) {
    const { terminal, rondo } = context;
    const threadId = given.value('thread') ?? (await rondo().threads.create()).id;
    const conversation = { threadId, model: given.value('model') };
    terminal.note(`${threadId} · continue it with: rondo chat --thread ${threadId}`, 'dim');
    let ending: Ending = 'ok';
    for await (const line of terminal.canAsk ? readQuestions(context) : terminal.lines()) {
      if (line.trim() !== '') ending = await turn(line, conversation, context);
      if (ending === 'waiting' && !terminal.canAsk) return ending;
    }
    return terminal.canAsk ? 'ok' : ending;
  },
};

async function* readQuestions({ terminal }: Context): AsyncGenerator<string> {
  for (;;) {
    const line = await terminal.ask('\nyou> ');
    if (line === undefined) {
      terminal.note('');
      return;
    }
    yield line;
  }
}
