import {
  type Fact,
  type RondoClient,
  type RunView,
  type RunningRondo,
  command,
  scriptInput,
} from '@rondo/test-deployment';
import { CommandLine } from '../command-line';
import { expectWholeLog } from '../log-expectations';
import { ordinaryDeployment } from '../shared-deployment';

/** Has its effect at once and then continues, the first time for a minute. */
const slowTheFirstTime =
  'echo once >> effects; echo begun; if [ $(wc -l < effects) = 1 ]; then sleep 60; fi; sleep 0.5; echo did it';

describe('kill -9 of the executor in the middle of an unsafe command, where a person decides (I5)', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = rondo.client();
  });

  const inDoubt = async (about: string): Promise<RunView> => {
    const run = await client.createRun({
      ...scriptInput(about, [
        { calls: [command(slowTheFirstTime)] },
        { calls: [command('cat effects')] },
        { text: 'All done.' },
      ]),
      processor: { unknown_outcome: 'park' },
    });
    await client.waitForEvent(run.id, 'tool.output');
    await rondo.services.get('tool-executor').kill();
    return client.waitForRun(run.id);
  };

  const readQuestion = async ({ id }: RunView): Promise<string> => {
    const asked = (await client.facts(id)).at(-1);
    expect(asked).toMatchObject({ type: 'run.waiting', data: { reason: 'tool_unknown' } });
    return String(asked?.data.question.tool_call_id);
  };

  const resolve = (call: string, ruling: object) =>
    client.json<{ status: string }>('POST', `/tool-calls/${call}/resolve`, ruling);

  /** The facts of the completed run, and the outputs of its calls, which count the effects. */
  const ending = async ({ id }: RunView): Promise<{ facts: Fact[]; outputs: string[] }> => {
    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(id);
    expectWholeLog(facts);
    return { facts, outputs: await client.toolOutputs(id) };
  };

  it('decided as done: the model gets the result, and the command is not run again', async () => {
    const run = await inDoubt('it took effect');
    expect(run.status).toBe('waiting_input');

    const line = new CommandLine(client);
    const words = ['resolve', await readQuestion(run), 'completed', '--output', 'did it', '--json'];
    const { code, stdout } = await line.inPipe(words);
    line.remove();
    expect({ code, call: JSON.parse(stdout) as object }).toMatchObject({ code: 0, call: { status: 'completed' } });

    const { facts, outputs } = await ending(run);
    expect(outputs).toEqual([expect.stringMatching(/A person confirmed.*did it/s), 'once\n']);
    expect(facts.filter(({ type }) => type === 'tool.started')).toHaveLength(2);
  });

  it('decided to retry: it runs once more, under the same id', async () => {
    const run = await inDoubt('it is tried again');
    const call = await readQuestion(run);
    const watched = client.watch(run.id, (await client.run(run.id)).last_seq);

    expect(await resolve(call, { outcome: 'retry' })).toMatchObject({ status: 'planned' });

    const { facts, outputs } = await ending(run);
    expect(outputs).toEqual(['begun\ndid it\n', 'once\nonce\n']);
    const attempts = facts.filter(({ type, data }) => type === 'tool.started' && data.tool_call_id === call);
    expect(attempts.map(({ data }) => data.attempt)).toEqual([1, 2]);
    const printed = (await watched).filter(({ type, data }) => type === 'tool.output' && data.stream === 'stdout');
    expect(printed.map(({ data }) => String(data.text)).join('')).toContain('begun\ndid it\n');
  });

  it('without a decision: a stop ends the run at once and records the call as unknown (I6)', async () => {
    const run = await inDoubt('it is stopped');

    await client.json('POST', `/runs/${run.id}/stop`, {});

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'stopped' });
    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    expect(facts.slice(-3).map(({ type }) => type)).toEqual(['tool.unknown', 'message.created', 'run.stopped']);
  });
});
