import type { CommandEvent, SandboxCommand } from '@rondo/client';
import { TerminalSession } from './terminal-session.ts';

const started: CommandEvent = { type: 'command.started', command_id: 'cmd_1' };
const print = (text: string): CommandEvent => ({ type: 'command.output', text });
type Ended = Extract<CommandEvent, { type: 'command.ended' }>;
const end = (about: Partial<Ended> = {}): CommandEvent => ({
  ...{ type: 'command.ended', ending: 'exited', exit_code: 0, cwd: '/workspace', duration_ms: 3 },
  ...{ output_end: null, detail: null },
  ...about,
});

/** A session whose commands do this, and what was asked. */
function createSession(...events: readonly CommandEvent[]) {
  const asked: SandboxCommand[] = [];
  const session = new TerminalSession(async function* (command) {
    asked.push(command);
    yield* events;
    await Promise.resolve();
  });
  return { session, asked };
}

const newest = ({ view }: TerminalSession) => view.entries.at(-1);

describe('a session of a terminal', () => {
  it('shows what commands print, and goes on where the last one ended', async () => {
    const { session, asked } = createSession(started, print('a\n'), print('b\n'), end({ cwd: '/workspace/app' }));
    let changes = 0;
    session.subscribe(() => changes++);

    await session.run('cd app; ls');
    await session.run('pwd');

    expect(session.view.entries).toMatchObject([
      { command: 'cd app; ls', cwd: '/workspace', output: 'a\nb\n', end: '' },
      { command: 'pwd', cwd: '/workspace/app', output: 'a\nb\n', end: '' },
    ]);
    expect(asked.map(({ cwd }) => cwd)).toEqual(['/workspace', '/workspace/app']);
    expect(changes).toBeGreaterThan(4);
  });

  it.each<[Partial<Ended>, string]>([
    [{ exit_code: 2 }, 'exit code 2'],
    [{ ending: 'timed_out', exit_code: null }, 'It was killed after 10 minutes.'],
    [{ ending: 'unknown', exit_code: null, cwd: null, detail: 'Lost.' }, 'It is not known how it ended. Lost.'],
  ])('says how one ended: %j', async (about, sentence) => {
    const { session } = createSession(started, end(about));

    await session.run('x');

    expect(newest(session)?.end).toBe(sentence);
    expect(session.view.cwd).toBe('/workspace');
  });

  it('shows the end of an output that was too long, and of any the newest part', async () => {
    const { session } = createSession(print('x'.repeat(300_000)), end({ output_end: 'the end' }));

    await session.run('yes');

    expect(newest(session)?.output).toHaveLength(200_000);
    expect(newest(session)?.output.endsWith('xthe end')).toBe(true);
  });

  it('runs one command at a time, and ends it when it is interrupted', async () => {
    const session = new TerminalSession(async function* (_, signal) {
      yield started;
      signal.throwIfAborted();
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    const running = session.run('sleep 600');
    await session.run('ls');
    expect(session.view).toMatchObject({ isRunning: true, entries: [{ command: 'sleep 600', end: null }] });

    session.interrupt();
    await running;

    expect(session.view).toMatchObject({ isRunning: false, entries: [{ end: '^C' }] });
    session.clear();
    expect(session.view.entries).toEqual([]);
  });

  it('says why a command could not be sent', async () => {
    const session = new TerminalSession(async function* () {
      yield started;
      throw await Promise.resolve(new Error('The gateway is away.'));
    });

    await session.run('ls');

    expect(newest(session)?.end).toContain('The gateway is away.');
  });
});
