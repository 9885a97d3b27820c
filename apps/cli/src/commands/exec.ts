import type { CommandEvent } from '@rondo/client';
import type { Command } from '../command';
import { readCount } from '../parse-arguments';
import { place, readSandbox } from './files';

type Ended = Extract<CommandEvent, { type: 'command.ended' }>;

export const sandboxesExec: Command = {
  name: 'sandboxes exec',
  summary: 'Run a command in a sandbox, and show what it prints',
  args: [place, { name: 'COMMAND', repeatable: true }],
  options: [
    { name: 'cwd', value: 'PATH', help: 'where it runs (where the last command of a person ended)' },
    { name: 'timeout', value: 'SECONDS', help: 'it is killed after so long (60)' },
  ],
  details:
    'Its words are joined by spaces. Put `--` before them if some begin with a dash: `rondo sandboxes exec RUN -- npm test -- --bail`.\n' +
    'It is no part of a run. Ctrl-C kills it. There is no terminal in the sandbox: what asks at one gets no answer.',
  async run(given, context) {
    const { rondo, terminal } = context;
    const [id = '', ...words] = given.args;
    const cwd = given.value('cwd');
    const timeout = readCount(given, 'timeout', 1);
    const command = {
      command: words.join(' '),
      ...(cwd !== undefined && { cwd }),
      ...(timeout !== undefined && { timeout_s: timeout }),
    };
    for await (const event of rondo().sandboxes.exec(await readSandbox(id, context), command)) {
      if (terminal.isJson) terminal.json(event);
      else if (event.type === 'command.output') terminal.write(event.text);
      if (event.type !== 'command.ended') continue;
      const sentence = describeEnd(event);
      if (sentence !== undefined) terminal.note(sentence, 'yellow');
      return event.exit_code === 0 ? 'ok' : 'failed';
    }
    return 'failed';
  },
};

/** Undefined where it went well. */
function describeEnd({ ending, exit_code: code, detail }: Ended): string | undefined {
  if (ending === 'exited') return code === 0 ? undefined : `It ended with exit code ${code}.`;
  return `${endings[ending]} ${detail ?? ''}`.trim();
}

const endings: Record<Exclude<Ended['ending'], 'exited'>, string> = {
  timed_out: 'It was killed because it took too long.',
  output_limit: 'It was killed because it printed too much.',
  out_of_memory: 'It was killed because it needed too much memory.',
  killed: 'It was killed.',
  not_started: 'It did not run.',
  unknown: 'It is not known how it ended.',
};
