import { CommandRecord } from './command-record';
import { CommandRun } from './command-run';
import { connectTo } from '../testing/scripted-agent';

const command = { id: 'call_1', command: 'sleep 60', session: 'default', background: false };
const limits = { timeoutMs: undefined, graceMs: 100, maxOutputBytes: 1_000, keepBytes: 1_000 };

/** Sees its command killed before it dies itself: the kernel kills the processes of a sandbox in any order. */
const seesItsCommandDie = `
  control.once('data', () => tell({ id: 1, ok: true, result: { cwd: '/workspace' } }));
  process.once('SIGUSR2', () => {
    tell({ event: 'ended', command: 1, reason: 'exit', signal: 'SIGKILL', cwd: '/workspace' });
    control.end(() => process.exit());
  });`;

describe('a command whose agent sees it die while the sandbox is killed', () => {
  const running = async () => {
    const record = new CommandRecord(command, limits);
    const connection = connectTo(seesItsCommandDie, (child) => child.kill('SIGUSR2'));
    await new CommandRun(1, record, connection).start(undefined);
    return { record, connection };
  };

  it('was killed for the reason that the sandbox was, and did not exit', async () => {
    const { record, connection } = await running();

    record.expect('killed', 'The sandbox was stopped.');
    await connection.kill();

    expect(await record.outcome).toMatchObject({ ending: 'killed', detail: 'The sandbox was stopped.' });
    expect(await record.outcome).not.toHaveProperty('exitCode');
  });

  it('has exited where nobody meant it to end', async () => {
    const { record, connection } = await running();

    await connection.kill();

    expect(await record.outcome).toMatchObject({ ending: 'exit', exitCode: 137 });
  });
});
