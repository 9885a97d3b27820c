import { CommandRecord } from '../../provider/command-record';
import { CommandRun } from './command-run';
import { connectTo } from '../testing/scripted-agent';

const command = { id: 'call_1', command: 'sleep 60', session: 'default', background: false };
const limits = { timeoutMs: undefined, graceMs: 100, maxOutputBytes: 1_000, keepBytes: 1_000 };

/** Reports its command as killed before it dies itself: the kernel kills the processes of a sandbox in any order. */
const agentThatOutlivesItsCommand = `
  control.once('data', () => send({ id: 1, ok: true, result: { cwd: '/workspace' } }));
  process.once('SIGUSR2', () => {
    send({ event: 'ended', command: 1, reason: 'exit', signal: 'SIGKILL', cwd: '/workspace' });
    control.end(() => process.exit());
  });`;

describe('a command whose agent outlives it while the sandbox is killed', () => {
  const running = async () => {
    const record = new CommandRecord(command, limits);
    const connection = connectTo(agentThatOutlivesItsCommand, (child) => child.kill('SIGUSR2'));
    await new CommandRun(1, record, { connection }).start(undefined);
    return { record, connection };
  };

  it('ends as killed with the reason of the sandbox, not as exited', async () => {
    const { record, connection } = await running();

    record.expect('killed', 'The sandbox was stopped.');
    await connection.kill();

    expect(await record.outcome).toMatchObject({ ending: 'killed', detail: 'The sandbox was stopped.' });
    expect(await record.outcome).not.toHaveProperty('exitCode');
  });

  it('ends as exited when the host did not kill it', async () => {
    const { record, connection } = await running();

    await connection.kill();

    expect(await record.outcome).toMatchObject({ ending: 'exit', exitCode: 137 });
  });
});
