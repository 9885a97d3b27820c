import { RefundServer, type RondoClient, type RunningRondo, call, scriptInput } from '@rondo/test-deployment';
import { CommandLine } from '../command-line';
import { openConsole, stopBrowser } from '../console-browser';
import { expectWholeLog } from '../log-expectations';
import { internalPort, newAccount, startPaired } from '../shared-deployment';

describe('a question of an MCP server', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let refunds: RefundServer;

  beforeAll(async () => {
    refunds = await RefundServer.open(await internalPort());
    rondo = await startPaired();
    client = await newAccount(rondo);
  });

  afterAll(async () => {
    await refunds.close();
  });

  async function waitingRun(settings: object = {}): Promise<{ id: string; callId: string }> {
    const run = await client.createRun({
      ...scriptInput('refund', [{ calls: [call('refunds__refund', {})] }, { text: 'Done.' }]),
      tools: [],
      mcp_servers: [{ name: 'refunds', transport: 'streamable_http', url: refunds.url }],
      ...settings,
    });
    await client.waitForEvent(run.id, 'run.waiting');
    const { waiting } = await client.json<{ waiting: { elicitations: { tool_call_id: string }[] } }>(
      'GET',
      `/runs/${run.id}`,
    );
    expect(waiting).toMatchObject({
      reason: 'elicitation',
      elicitations: [{ server: 'refunds', message: 'Why is it refunded?', fields: { reason: { required: true } } }],
    });
    return { id: run.id, callId: waiting.elicitations[0]?.tool_call_id ?? '' };
  }

  it('waits in the inbox, survives every process, and its answer is checked and given to the server', async () => {
    const { id, callId } = await waitingRun();
    expect((await client.request('GET', '/inbox')).text).toContain('"reason":"elicitation"');
    expect(await client.json('GET', `/runs/${id}/why`)).toMatchObject({
      cause: 'elicitation',
      sentence: expect.stringContaining('a question of the MCP server refunds'),
    });
    await Promise.all(['tool-executor', 'agent-worker'].map((name) => rondo.services.get(name).kill()));

    const answer = (body: object) => client.request('POST', `/tool-calls/${callId}/input`, body);
    expect(await answer({ action: 'accept', content: {} })).toMatchObject({
      status: 422,
      text: expect.stringContaining('content.reason: is needed'),
    });
    expect(await answer({ action: 'accept', content: { reason: 'x'.repeat(21) } })).toMatchObject({ status: 422 });
    expect(await answer({ action: 'accept', content: { reason: 'It broke.', more: 1 } })).toMatchObject({
      status: 422,
    });
    expect(await answer({ action: 'accept', content: { reason: 'It broke.' } })).toMatchObject({ status: 200 });
    expect(await answer({ action: 'decline' })).toMatchObject({
      status: 409,
      text: expect.stringContaining('input_not_asked'),
    });

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    expectWholeLog(await client.facts(id));
    expect(await client.toolOutputs(id)).toEqual(['order 7 is refunded']);
    expect(refunds.refunded).toEqual([{ action: 'accept', content: { reason: 'It broke.' } }]);
  });

  it('may be declined, and belongs to its account', async () => {
    const { id, callId } = await waitingRun();
    const other = await newAccount(rondo);
    expect(await other.request('POST', `/tool-calls/${callId}/input`, { action: 'decline' })).toMatchObject({
      status: 404,
    });

    expect(await client.request('POST', `/tool-calls/${callId}/input`, { action: 'decline' })).toMatchObject({
      status: 200,
    });

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    expect(refunds.refunded.at(-1)).toEqual({ action: 'decline' });
  });

  it('is a form in the console, which says what is wrong', async () => {
    const { id } = await waitingRun();
    const { browser, page } = await openConsole(rondo, client);
    try {
      await browser.open(`/console/runs/${id}`);
      const asked = page.getByRole('region', { name: 'An MCP server asks you' });
      await asked.getByText('Why is it refunded?').waitFor();
      await browser.expectThisAccessibleInEveryLook('a question of an MCP server');
      await asked.getByLabel('reason').fill('It is much longer than allowed.');
      await asked.getByRole('button', { name: 'Send' }).click();
      await asked.getByRole('alert').getByText('content.reason: must have at most 20 characters').waitFor();
      await asked.getByLabel('reason').fill('It was late.');
      await asked.getByRole('button', { name: 'Send' }).click();
      await asked.waitFor({ state: 'detached' });
    } finally {
      await stopBrowser(browser);
    }

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    expect(refunds.refunded.at(-1)).toEqual({ action: 'accept', content: { reason: 'It was late.' } });
  });

  it('is answered and declined by the command line', async () => {
    const commandLine = new CommandLine(client);
    const first = await waitingRun();
    expect(await commandLine.inPipe(['answer', first.id])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/"refunds" asks: Why is it refunded\?\s+reason: string/),
    });
    expect(await commandLine.inPipe(['answer', first.id, '--accept', '{"reason": "Wrong size."}'])).toMatchObject({
      code: 0,
    });
    await client.waitForRun(first.id);
    const second = await waitingRun();
    expect(await commandLine.inPipe(['answer', second.id, '--decline'])).toMatchObject({ code: 0 });
    await client.waitForRun(second.id);

    expect(refunds.refunded.slice(-2)).toEqual([
      { action: 'accept', content: { reason: 'Wrong size.' } },
      { action: 'decline' },
    ]);
    commandLine.remove();
  });

  it('is cancelled when its time is over', async () => {
    const { id } = await waitingRun({ approval_expires_s: 1 });
    await client.waitForEvent(id, 'tool.input_given');

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    expectWholeLog(await client.facts(id));
    expect(refunds.refunded.at(-1)).toEqual({ action: 'cancel' });
  });

  it('ends with the stop of its run', async () => {
    const { id, callId } = await waitingRun();
    await client.request('POST', `/runs/${id}/stop`, {});

    expect(await client.waitForRun(id)).toMatchObject({ status: 'stopped' });
    expectWholeLog(await client.facts(id));
    expect(await client.request('POST', `/tool-calls/${callId}/input`, { action: 'decline' })).toMatchObject({
      status: 409,
    });
  });
});
