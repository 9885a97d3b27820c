import type { Duplex } from 'node:stream';
import type { CommandEvent } from '@rondo/contract';
import { newUlid } from '@rondo/platform';
import { type CommandOutcome, type Ending, type Sandbox, SandboxError } from '../sandboxes';
import { keptBytes } from '../tools/shell/shell.handlers';
import { OutputFrames, streamedCharacters } from '../tools/output-frames';

interface PersonCommand {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly timeout_ms: number;
}

/** Commands of people continue where the last one ended, apart from the sessions of the agent. */
const session = 'person';

/**
 * Runs a command of a person as the tool runs one of the agent, and writes each of its events as a line of JSON. It is of no run, so
 * that the end of none ends what it leaves running. It is killed when the tunnel is closed before its end.
 */
export async function runPersonCommand(sandbox: Sandbox, asked: PersonCommand, tunnel: Duplex): Promise<void> {
  const left = new AbortController();
  tunnel.once('close', () => left.abort());
  tunnel.resume();
  const send = (event: CommandEvent) => {
    if (tunnel.writable) tunnel.write(`${JSON.stringify(event)}\n`);
  };
  const id = `cmd_${newUlid()}`;
  send({ type: 'command.started', command_id: id });
  send({ type: 'command.ended', ...(await execute(sandbox, { ...asked, id }, { send, signal: left.signal })) });
  tunnel.end();
}

type Ended = Omit<Extract<CommandEvent, { type: 'command.ended' }>, 'type'>;

interface Listener {
  readonly send: (event: CommandEvent) => void;
  readonly signal: AbortSignal;
}

async function execute(
  sandbox: Sandbox,
  { id, command, cwd, timeout_ms: timeoutMs }: PersonCommand & { readonly id: string },
  { send, signal }: Listener,
): Promise<Ended> {
  const frames = new OutputFrames((text) => send({ type: 'command.output', text }));
  let printed = 0;
  const output = ({ text }: { readonly text: string }) => {
    printed += text.length;
    frames.push(text);
  };
  try {
    const request = { id, command, session, timeoutMs, keepBytes: keptBytes, ...(cwd !== undefined && { cwd }) };
    const outcome = await sandbox.exec(request, { output, signal });
    return toEnded(outcome, printed > streamedCharacters);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const unknown = { exit_code: null, cwd: null, duration_ms: null, output_end: null };
    return { ending: error.code === 'lost' ? 'unknown' : 'not_started', ...unknown, detail: error.message };
  } finally {
    frames.close();
  }
}

const endings: Record<Ending, Ended['ending']> = {
  exit: 'exited',
  timeout: 'timed_out',
  'output-limit': 'output_limit',
  killed: 'killed',
  oom: 'out_of_memory',
  'sandbox-lost': 'unknown',
};

const toEnded = (outcome: CommandOutcome, wasCut: boolean): Ended => ({
  ending: endings[outcome.ending],
  exit_code: outcome.exitCode ?? null,
  cwd: outcome.cwd,
  duration_ms: Math.round(outcome.durationMs),
  output_end: wasCut ? outcome.output.slice(-outcome.output.length / 2) : null,
  detail: outcome.detail ?? null,
});
