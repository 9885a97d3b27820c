import * as v2 from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpRunOutcome } from '@rondo/contract/api';
import { type RondoClient, call, command, scriptInput } from '@rondo/test-deployment';
import { FacadeDeployment, long } from './facade-deployment';

const open: { close(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
});
const deployment = FacadeDeployment.forSuite();

type Call = (
  name: string,
  args: object,
  options?: { readonly signal?: AbortSignal; readonly onprogress?: (progress: Told) => void },
) => Promise<McpRunOutcome>;
interface Told {
  readonly progress: number;
  readonly message?: string | undefined;
}
interface Options {
  /** Where a client resumes an answer. */
  readonly resumesAt?: RondoClient;
  readonly onQuestion?: (message: string) => v2.ElicitResult;
}
type Connect = (at: RondoClient, options?: Options) => Promise<Call>;

/** A client that a load balancer sends elsewhere when it comes back. */
const toTransportOptions = ({ key }: RondoClient, { resumesAt }: Options) => ({
  requestInit: { headers: { Authorization: `Bearer ${key}` } },
  reconnectionOptions: {
    initialReconnectionDelay: 50,
    maxReconnectionDelay: 50,
    reconnectionDelayGrowFactor: 1,
    maxRetries: 20,
  },
  fetch: (target: string | URL, init?: RequestInit) =>
    fetch(resumesAt && new Headers(init?.headers).has('last-event-id') ? `${resumesAt.url}/mcp` : target, init),
});

const toOutcome = ({ structuredContent, content }: { structuredContent?: unknown; content: unknown }) => {
  if (structuredContent === undefined) throw new Error(JSON.stringify(content));
  return structuredContent as McpRunOutcome;
};

const connectFirst: Connect = async (at, options = {}) => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${at.url}/mcp`), toTransportOptions(at, options)));
  open.push(client);
  return async (name, args, more) => {
    const result = await client.callTool({ name, arguments: { ...args } }, CallToolResultSchema, more);
    return toOutcome(CallToolResultSchema.parse(result));
  };
};

const connectSecond =
  (mode: v2.VersionNegotiationMode): Connect =>
  async (at, options = {}) => {
    const { onQuestion } = options;
    const client = new v2.Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode }, ...(onQuestion && { capabilities: { elicitation: { form: {} } } }) },
    );
    if (onQuestion) client.setRequestHandler('elicitation/create', ({ params }) => onQuestion(params.message));
    await client.connect(
      new v2.StreamableHTTPClientTransport(new URL(`${at.url}/mcp`), toTransportOptions(at, options)),
    );
    open.push(client);
    return async (name, args, more) => toOutcome(await client.callTool({ name, arguments: { ...args } }, more));
  };

const older: [string, Connect][] = [
  ['@modelcontextprotocol/sdk', connectFirst],
  ['@modelcontextprotocol/client in 2025-11-25', connectSecond('legacy')],
];
const newer: [string, Connect] = ['@modelcontextprotocol/client in 2026-07-28', connectSecond('auto')];

const about = (text: string, turns: readonly Record<string, unknown>[]) => ({
  input: scriptInput(text, turns).input,
  model: 'demo/scripted',
});

/** Collects progress, and does something once when text comes. */
function listen(whenText: () => void): { onprogress: (told: Told) => void; seen: number[] } {
  const seen: number[] = [];
  let isDone = false;
  const onprogress = ({ progress, message = '' }: Told) => {
    seen.push(progress);
    if (isDone || !message.includes('Sentence')) return;
    isDone = true;
    whenText();
  };
  return { onprogress, seen };
}

const expectRising = (numbers: readonly number[]) => {
  expect(numbers.length).toBeGreaterThan(1);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
};

describe.each([...older, newer])('%s', (name, connect) => {
  it('runs an agent with a tool, and other connections read what it has answered', async () => {
    const run = await connect(deployment.client);
    const turns = [{ text: 'I look.', calls: [command('echo seen')] }, { text: 'I have seen it.' }];
    const messages: (string | undefined)[] = [];
    const outcome = await run('run_agent', about(`tool ${name}`, turns), {
      onprogress: ({ message }) => messages.push(message),
    });
    expect(outcome).toMatchObject({ status: 'completed', text: 'I have seen it.', question: null });
    expect(messages).toEqual(expect.arrayContaining(['execute_command runs.', 'execute_command has ended.']));
    for (const [, again] of [...older, newer])
      expect(await (await again(deployment.other))('get_run', { run_id: outcome.run_id })).toEqual(outcome);
  });

  it('follows, answers and stops runs that were begun in /v1 and at another gateway', async () => {
    const [here, there] = [await connect(deployment.client), await connect(deployment.other)];
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: long, pace_ms: 20 }];
    const { id } = await deployment.client.createRun(scriptInput(`question ${name}`, turns));
    expect(await there('get_run', { run_id: id, wait_s: 60 })).toMatchObject({
      status: 'waiting_input',
      question: 'Which colour?',
    });
    await here('answer_run', { run_id: id, answer: 'Blue.' });
    await expect(there('answer_run', { run_id: id, answer: 'Red.' })).rejects.toThrow('run_not_waiting');
    expect(await there('stop_run', { run_id: id })).toMatchObject({ status: 'stopped' });
    expect(await deployment.client.waitForRun(id)).toMatchObject({ status: 'stopped' });
  });

  it('stops the run of a call that its client cancels, with its command', async () => {
    const run = await connect(deployment.client);
    const leaving = new AbortController();
    const turns = [{ calls: [command('sleep 600')] }, { text: 'Slept.' }];
    const onprogress = ({ message }: Told) => {
      if (message === 'execute_command runs.') leaving.abort();
    };
    const options = { signal: leaving.signal, onprogress };
    await expect(run('run_agent', about(`cancelled ${name}`, turns), options)).rejects.toThrow();
    const { data } = await deployment.client.json<{ data: { id: string }[] }>('GET', '/runs?limit=1');
    expect(await deployment.client.waitForRun(data[0]?.id ?? '')).toMatchObject({ status: 'stopped' });
  });

  it('has the whole answer when the worker is killed in the middle of it', async () => {
    const run = await connect(deployment.other);
    let killing: Promise<unknown> | undefined;
    const { onprogress, seen } = listen(() => {
      killing = deployment.killWorkers();
    });
    const outcome = await run('run_agent', about(`killed worker ${name}`, [{ text: long, pace_ms: 10 }]), {
      onprogress,
    });
    await killing;
    expect(outcome).toMatchObject({ status: 'completed', text: long });
    expectRising(seen);
  });
});

describe.each(older)('%s', (name, connect) => {
  it('has the whole answer when the gateway is killed in the middle of it', async () => {
    const run = await connect(deployment.client, { resumesAt: deployment.other });
    let killing: Promise<unknown> | undefined;
    const { onprogress, seen } = listen(() => {
      killing = deployment.killGateway();
    });
    const outcome = await run('run_agent', about(`killed gateway ${name}`, [{ text: long, pace_ms: 20 }]), {
      onprogress,
    });
    await killing;
    expect(outcome).toMatchObject({ status: 'completed', text: long });
    expectRising(seen);
    await deployment.client.waitForRun(outcome.run_id); // the killed gateway is back
  });
});

describe(newer[0], () => {
  it('puts a question and an approval to the person, in one call', async () => {
    const asked: string[] = [];
    const run = await newer[1](deployment.client, {
      onQuestion: (message) => {
        asked.push(message);
        const content = message === 'Which colour?' ? { answer: 'Blue.' } : { decision: 'approve' };
        return { action: 'accept', content };
      },
    });
    await deployment.client.json('PUT', '/agents/by-name/painter', {
      definition: { model: 'demo/scripted', tools: { shell: { require_approval: true } } },
    });
    const turns = [
      { calls: [call('ask', { text: 'Which colour?' })] },
      { calls: [command('echo painted')] },
      { text: 'It is blue.' },
    ];
    const { input } = about('painter', turns);
    const outcome = await run('run_agent', { input, agent: 'painter' });
    expect(outcome).toMatchObject({ status: 'completed', text: 'It is blue.' });
    expect(asked).toEqual(['Which colour?', expect.stringContaining('echo painted')]);
  });

  it('leaves the run alone when the gateway is killed, which is no cancellation', async () => {
    const run = await newer[1](deployment.client);
    const leaving = new AbortController(); // this client waits for the end of its timeout, because it does not resume
    const { onprogress } = listen(() => {
      void deployment.killGateway().then(() => leaving.abort());
    });
    const options = { onprogress, signal: leaving.signal };
    await expect(run('run_agent', about('killed', [{ text: long, pace_ms: 20 }]), options)).rejects.toThrow();
    const { data } = await deployment.other.json<{ data: { id: string }[] }>('GET', '/runs?limit=1');
    const run_id = data[0]?.id;
    expect(await (await newer[1](deployment.other))('get_run', { run_id, wait_s: 60 })).toMatchObject({
      status: 'completed',
      text: long,
    });
  });
});
