import { type RondoClient, type RunView, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { expectWholeLog } from '../log-expectations';
import { killWorkers, createPairedClients } from '../shared-deployment';

interface Approval {
  readonly id: string;
  readonly run_id: string;
  readonly arguments: { readonly command: string };
  readonly arguments_hash: string;
  readonly outcome: string | null;
}

describe('what a person decides or answers, in a deployment', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let other: RondoClient;

  beforeAll(async () => {
    ({ rondo, client, other } = await createPairedClients());
  });

  const start = (about: string, settings: object = {}): Promise<RunView> =>
    client.createRun({
      ...scriptInput(about, [
        { calls: [command('echo once >> effects; cat effects')] },
        { calls: [command('cat effects 2>/dev/null; echo end')] },
        { text: 'All done.' },
      ]),
      tools: { shell: { require_approval: [{ command: '*>>*' }] } },
      ...settings,
    });

  const readOpen = async ({ id }: RunView): Promise<Approval> => {
    const { data } = await client.json<{ data: Approval[] }>('GET', '/approvals?limit=200');
    const found = data.find(({ run_id }) => run_id === id);
    if (!found) throw new Error(`${id} awaits no approval`);
    return found;
  };
  const decide = (through: RondoClient, { id, arguments_hash }: Approval, decision: object) =>
    through.request('POST', `/approvals/${id}/decision`, { arguments_hash, ...decision });
  const waitsForApproval = async (run: RunView): Promise<Approval> => {
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'waiting_input' });
    return readOpen(run);
  };
  const ending = async (run: RunView): Promise<string[]> => {
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    expectWholeLog(await client.facts(run.id));
    return client.toolOutputs(run.id);
  };

  it('two gateways that approve at the same time give one decision, and the command runs once', async () => {
    const run = await start('both approve');
    const approval = await waitsForApproval(run);

    const answers = await Promise.all(
      [client, other].map((gateway) => decide(gateway, approval, { decision: 'approve' })),
    );

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await ending(run)).toEqual(['once\n', 'once\nend\n']);
    const types = (await client.facts(run.id)).map(({ type }) => type);
    expect(types.filter((type) => type === 'approval.decided')).toHaveLength(1);
  });

  it('over a socket: an edited call runs with the new arguments, and the model is told', async () => {
    const run = await start('edited');
    const { id, arguments_hash } = await waitsForApproval(run);
    const edited = { command: 'echo edited > effects', blocking: true };

    const socket = other.connect();
    const decision = { approval_id: id, arguments_hash, decision: 'edit', arguments: edited };
    const answer = (await socket.emitWithAck('approval.decide', decision)) as { ok: boolean; data: Approval };
    socket.close();

    expect(answer).toMatchObject({ ok: true, data: { outcome: 'edit', arguments: edited } });
    expect((await ending(run))[1]).toBe('edited\nend\n');
    const { data } = await client.json<{ data: object[] }>('GET', `/threads/${run.thread_id}/messages`);
    expect(JSON.stringify(data)).toContain('A person changed the arguments of this call before it ran');
  });

  it('a denied call does not run, and the run goes on with the reason', async () => {
    const run = await start('denied');
    const approval = await waitsForApproval(run);

    expect((await decide(client, approval, { decision: 'deny', reason: 'Not today.' })).status).toBe(200);

    expect(await ending(run)).toEqual(['', 'end\n']);
    const failed = (await client.facts(run.id)).find(({ type }) => type === 'tool.failed');
    expect(failed?.data.result.error).toMatch(/A person denied this call.*Not today/s);
  });

  it('an approval expires, and its call is denied', async () => {
    const run = await start('expired', { approval_expires_s: 1 });

    await client.waitForEvent(run.id, 'run.completed');

    const decided = (await client.facts(run.id)).find(({ type }) => type === 'approval.decided');
    expect(decided?.data).toMatchObject({ outcome: 'expire', decided_by: null });
    expect(await ending(run)).toEqual(['', 'end\n']);
  });

  it('a worker that is killed between the decision and the call loses nothing and repeats nothing', async () => {
    const run = await start('killed');
    const approval = await waitsForApproval(run);

    await killWorkers(rondo);
    expect((await decide(client, approval, { decision: 'approve' })).status).toBe(200);

    expect(await ending(run)).toEqual(['once\n', 'once\nend\n']);
  });

  it('a run that is stopped while it waits answers its call', async () => {
    const run = await start('stopped');
    const approval = await waitsForApproval(run);

    await client.json('POST', `/runs/${run.id}/stop`);

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'stopped' });
    expect((await decide(client, approval, { decision: 'approve' })).status).toBe(409);
  });

  it('a question in the last iteration waits, and a worker that is killed with the answer on its way ends the run', async () => {
    const asks = { calls: [call('ask', { text: 'Which one?' })] };
    const run = await client.createRun({
      ...scriptInput('asks last', [asks, { text: 'Never said.' }]),
      limits: { max_iterations: 1 },
    });
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'waiting_input', waiting: { reason: 'ask' } });
    const { sentence } = await client.json<{ sentence: string }>('GET', `/runs/${run.id}/why`);
    expect(sentence).toBe(
      'Waits for an answer to: Which one? With the answer it ends: it has used all its iterations.',
    );

    await killWorkers(rondo);
    await client.json('POST', `/runs/${run.id}/input`, { content: 'The blue one.' });

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed', finish_reason: 'max_iterations' });
    expectWholeLog(await client.facts(run.id));
    const { data } = await client.json<{ data: object[] }>('GET', `/threads/${run.thread_id}/llm-messages`);
    expect(JSON.stringify(data)).toContain('The blue one.');
  });
});
