import { finished } from 'node:stream/promises';
import type { Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { run } from '../testing/run-command';
import { newThreadId } from '../testing/sandbox-provider-fixture';
import { setClockAhead } from '../testing/set-clock';
import type { Sandbox } from '../provider/sandbox';
import type { Machine } from './daytona-client';
import { DaytonaTerminal, terminalScript } from './daytona-terminal';
import { DaytonaFixture } from './testing/daytona-fixture';

const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

describe('a script in a terminal at Daytona', () => {
  let fixture: DaytonaFixture;
  let sandbox: Sandbox;
  beforeEach(async () => {
    fixture = await DaytonaFixture.open();
    sandbox = await fixture.provider.get(newThreadId());
  });
  afterEach(() => fixture.close());

  const attach = async (script: string): Promise<Duplex> => {
    if (!sandbox.attach) throw new Error('the provider attaches nothing');
    return sandbox.attach(script, 'run_1');
  };

  it('gets and gives every byte as it is, and nothing of the prompt before', async () => {
    const sent = Buffer.concat(Array.from({ length: 400 }, () => allBytes));
    const stream = await attach(`head -c ${sent.length}`);

    stream.write(sent);

    expect((await buffer(stream)).equals(sent)).toBe(true);
  });

  it('ends its stream when it ends', async () => {
    await expect(text(await attach('echo done'))).resolves.toBe('done\n');
  });

  it('ends when its stream is destroyed', async () => {
    const stream = await attach('echo $$ >/workspace/pid; echo begun; exec sleep 600');
    await new Promise((resolve) => stream.once('data', resolve));

    stream.destroy();

    const { output } = await run(sandbox, 'while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.02; done; echo gone');
    expect(output).toBe('gone\n');
  });

  it('ends its stream when the sandbox stops', async () => {
    const stream = await attach('exec sleep 600');

    await Promise.all([finished(stream.resume()), sandbox.stop()]);
  });

  it('tells the service once a minute that the sandbox is used', async () => {
    const activity = 'POST /api/sandbox/:id/last-activity';
    const told = () => fixture.server.requests.filter((route) => route === activity).length;
    const stream = await attach('exec cat');
    const echo = async (): Promise<void> => {
      stream.write('x');
      await new Promise((resolve) => stream.once('data', resolve));
    };
    await echo();
    expect(told()).toBe(0);

    setClockAhead(61_000);
    await echo();
    await echo();
    jest.useRealTimers();

    stream.destroy();
    await sandbox.stop(); // a later request of the same client
    expect(told()).toBe(1);
  });
});

it('ends a terminal that its first input does not reach', async () => {
  const kill = jest.fn(() => Promise.resolve());
  const lost = () => Promise.reject(new Error('the connection is lost'));
  const pty = { wait: () => new Promise(() => undefined), disconnect: () => Promise.resolve(), kill, sendInput: lost };
  const machine = { process: { createPty: () => Promise.resolve(pty) } } as unknown as Machine;
  const given = { path: '/tmp/script', script: terminalScript('cat'), used: () => undefined };

  await expect(DaytonaTerminal.open(machine, given)).rejects.toThrow('did not begin to work');
  expect(kill).toHaveBeenCalledTimes(1);
});
