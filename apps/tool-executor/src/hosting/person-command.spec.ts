import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type CommandEvent, commandEvent } from '@rondo/contract';
import { newUlid } from '@rondo/platform';
import { type SandboxProvider, createEmbeddedProvider, sandboxSettings } from '../sandboxes';
import { bubblewrapPath, sandboxRoot } from '../testing/executor-fixture';
import { runPersonCommand } from './person-command';

const log = { info: () => undefined, warn: () => undefined };

let sandboxes: SandboxProvider;
beforeAll(async () => {
  const settings = { bubblewrapPath: bubblewrapPath(), root: await sandboxRoot(), graceMs: 300 };
  sandboxes = createEmbeddedProvider(sandboxSettings.parse(settings), log);
});
afterAll(() => sandboxes.close());

const aThread = () => `thr_${newUlid()}`;

interface Options {
  readonly thread: string;
  readonly cwd?: string;
  readonly timeout_ms?: number;
}

/** A command that begins, and the client's end of its tunnel. */
async function begin(command: string, { thread, timeout_ms = 30_000, ...where }: Options) {
  const [near, far] = duplexPair();
  const sandbox = await sandboxes.get(thread, { thread, account: 'acc_1' });
  const done = runPersonCommand(sandbox, { command, timeout_ms, ...where }, far);
  return { near, done };
}

async function run(command: string, options: Options) {
  const { near, done } = await begin(command, options);
  near.end();
  const lines = (await text(near)).split('\n').filter((line) => line !== '');
  await done;
  const events = lines.map((line): CommandEvent => commandEvent.parse(JSON.parse(line)));
  expect(events[0]?.type).toBe('command.started');
  const printed = events.flatMap((event) => (event.type === 'command.output' ? event.text : [])).join('');
  return { printed, ended: events.at(-1) };
}

describe('a command of a person', () => {
  it('prints as it goes, and continues where the last one ended, apart from the agent', async () => {
    const thread = aThread();

    const first = await run('mkdir app; cd app; export COLOUR=blue; echo one; echo two >&2; false', { thread });
    const second = await run('echo $COLOUR; pwd', { thread });
    const agent = await (await sandboxes.get(thread)).exec({ id: 'call_1', command: 'echo "[$COLOUR]"; pwd' });

    expect(first).toMatchObject({ printed: 'one\ntwo\n', ended: { ending: 'exited', exit_code: 1 } });
    expect(second).toMatchObject({ printed: 'blue\n/workspace/app\n', ended: { exit_code: 0, cwd: '/workspace/app' } });
    expect(await run('pwd', { thread, cwd: '.' })).toMatchObject({ printed: '/workspace\n' });
    expect(agent.output).toBe('[]\n/workspace\n');
  });

  it('ends at its time, and says so where it could not run', async () => {
    const thread = aThread();

    const late = await run('echo begun; sleep 60', { thread, timeout_ms: 300 });
    const lost = await run('pwd', { thread, cwd: 'no/such/place' });

    expect(late).toMatchObject({ printed: 'begun\n', ended: { ending: 'timed_out', exit_code: null } });
    expect(lost.ended).toMatchObject({ ending: 'not_started', detail: expect.any(String) });
  });

  it('is killed when the sandbox is put to sleep', async () => {
    const thread = aThread();
    const running = begin('echo begun; sleep 600', { thread });
    const { near, done } = await running;
    let seen = '';
    for await (const bytes of near) {
      seen += String(bytes);
      if (seen.includes('begun')) break;
    }

    await sandboxes.putToSleep(thread);

    await done;
  });
});

describe('attack: a command in a sandbox', () => {
  it('that prints without end', async () => {
    const { printed, ended } = await run('yes yes-yes-yes-yes', { thread: aThread() });

    expect(printed.length).toBeLessThan(300 * 1024);
    expect(ended).toMatchObject({ ending: 'output_limit', output_end: expect.stringContaining('yes-yes') });
    expect(JSON.stringify(ended).length).toBeLessThan(200_000);
  });

  it('that outlives its client', async () => {
    const thread = aThread();
    const { near, done } = await begin('echo $$ > pid; sleep 600', { thread });
    near.resume();
    const isAlive = async () =>
      (await run('kill -0 "$(cat pid)" && echo alive', { thread, cwd: '.' })).printed.endsWith('alive\n');
    while (!(await isAlive())) continue;

    near.destroy();
    await done;

    expect(await isAlive()).toBe(false);
  });
});
