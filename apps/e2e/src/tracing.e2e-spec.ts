import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Run } from '@rondo/contract';
import { type RondoClient, RunningRondo, call, command, scriptInput, smallContext } from '@rondo/test-deployment';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { OtlpReceiver, type ReceivedSpan } from './otlp-receiver';

const callersSpan = '00f067aa0ba902b7';
const secretOfCollector = 'collector-s3cret';
const said = 'the launch code is 4711';

/** Starts a run as a caller that is traced itself. */
async function startTraced(client: RondoClient, body: object, flags = '01'): Promise<Run & { callersTrace: string }> {
  const callersTrace = randomBytes(16).toString('hex');
  const response = await fetch(`${client.url}/v1/runs`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${client.key}`,
      'Content-Type': 'application/json',
      traceparent: `00-${callersTrace}-${callersSpan}-${flags}`,
    },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(202);
  return { ...((await response.json()) as Run), callersTrace };
}

const isNamed = (start: string) => (span: ReceivedSpan) => span.name.startsWith(start);
const has = (start: string) => (spans: readonly ReceivedSpan[]) => spans.some(isNamed(start));
/** Each service sends its spans by itself, and the last activation when its worker lets go of the run. */
const isOver = (spans: readonly ReceivedSpan[]) =>
  ['create_run', 'invoke_agent', 'process runs'].every((start) => has(start)(spans));

/** Every span hangs below another one of the trace, but for the first, which hangs below that of the caller. */
function expectConnected(spans: readonly ReceivedSpan[]): void {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  expect(ids.size).toBe(spans.length);
  const orphans = spans.filter(({ parentSpanId }) => !ids.has(parentSpanId));
  expect(orphans.map(({ name, parentSpanId }) => ({ name, parentSpanId }))).toEqual([
    { name: 'create_run', parentSpanId: callersSpan },
  ]);
}

const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);

const onlyNamed = (spans: readonly ReceivedSpan[], start: string): ReceivedSpan => {
  const [span, ...more] = spans.filter(isNamed(start));
  if (!span || more.length > 0) throw new Error(`${more.length + (span ? 1 : 0)} spans are named ${start}`);
  return span;
};

describe('traces of a deployment', () => {
  let receiver: OtlpReceiver;
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
    const tracing = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secretOfCollector}`,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    };
    rondo = await RunningRondo.start({
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'summarizer', 'gateway'],
      settings: {
        'tool-executor': { ...tracing, LOG_LEVEL: 'debug' },
        'agent-worker': tracing,
        summarizer: tracing,
        gateway: { ...tracing, TRACE_URL: 'https://traces.example/trace/{trace_id}' },
      },
    });
    client = rondo.client();
  });

  afterAll(async () => {
    await rondo.stop();
    await receiver.stop();
  });

  const view = (id: string) => client.json<Run>('GET', `/runs/${id}`);

  it('has one connected trace of a run over gateway, queue, worker, NATS and executor, named by the conventions', async () => {
    const { id, thread_id, profile, trace_id, callersTrace } = await startTraced(
      client,
      scriptInput(said, [
        { calls: [command('echo one'), call('read_file', { file_path: 'missing' })] },
        { text: 'All done.' },
      ]),
    );
    expect(trace_id).toBe(callersTrace);
    await client.waitForRun(id);

    const spans = await receiver.trace(
      callersTrace,
      (found) => isOver(found) && found.filter(isNamed('process tool_calls')).length === 2,
    );

    expectConnected(spans);
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(['gateway', 'agent-worker', 'tool-executor']));
    expect(spans.map(({ attributes }) => attributes['rondo.run.id'])).toEqual(spans.map(() => id));
    const root = onlyNamed(spans, 'invoke_agent');
    expect(root).toMatchObject({
      name: `invoke_agent ${profile}`,
      kind: 1,
      parentSpanId: onlyNamed(spans, 'create_run').spanId,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': profile,
        'gen_ai.conversation.id': thread_id,
        'gen_ai.provider.name': 'demo',
        'gen_ai.request.model': 'scripted',
        'rondo.run.status': 'completed',
      },
    });
    const chats = spans.filter(isNamed('chat'));
    expect(chats).toHaveLength(2);
    for (const chat of chats) {
      expect(chat).toMatchObject({
        name: 'chat scripted',
        kind: 3,
        parentSpanId: root.spanId,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.response.finish_reasons': [expect.any(String)],
          'gen_ai.usage.input_tokens': expect.any(Number),
          'gen_ai.usage.output_tokens': expect.any(Number),
        },
      });
      expect(chat.startMs).toBeGreaterThanOrEqual(root.startMs);
      expect(chat.endMs).toBeLessThanOrEqual(root.endMs);
    }
    const { usage } = await view(id);
    expect(root.attributes['gen_ai.usage.input_tokens']).toBe(usage.input_tokens);
    const tools = spans.filter(isNamed('execute_tool'));
    expect(tools.map(({ name, failed }) => ({ name, failed })).sort(byName)).toEqual([
      { name: 'execute_tool execute_command', failed: false },
      { name: 'execute_tool read_file', failed: true },
    ]);
    for (const tool of tools) expect(tool).toMatchObject({ kind: 1, parentSpanId: root.spanId });
    const handled = spans.filter(isNamed('process tool_calls'));
    expect(new Set(handled.map(({ parentSpanId }) => parentSpanId))).toEqual(
      new Set(tools.map(({ spanId }) => spanId)),
    );
    expect(onlyNamed(spans, 'receive runs').attributes).toMatchObject({ 'messaging.system': 'bullmq' });
    expect(onlyNamed(spans, 'process runs').attributes).toMatchObject({ 'rondo.activation.outcome': 'ended' });
  });

  it('has the summaries of the run in its trace', async () => {
    const body = {
      model: 'demo/loop:turns=12,output_bytes=4000',
      input: 'Go on until you are done.',
      profile: 'suna',
      tools: ['execute_command', 'expand_message'],
      context: {
        ...smallContext,
        summary_model: 'demo/summary',
      },
    };
    const { id, callersTrace } = await startTraced(client, body);
    await client.waitForRun(id);

    const spans = await receiver.trace(callersTrace, (found) => isOver(found) && has('process compactions')(found));

    expectConnected(spans);
    const summaries = spans.filter(({ service }) => service === 'summarizer');
    expect(new Set(summaries.map(({ name }) => name))).toEqual(
      new Set(['receive compactions', 'process compactions', 'chat summary']),
    );
    expect(spans.filter(isNamed('process runs')).length).toBeGreaterThan(1);
  });

  it('stays connected when a worker is killed, and names the calls that it left', async () => {
    const { id, callersTrace } = await startTraced(
      client,
      scriptInput('killed', [{ calls: [command('echo 1; sleep 2; echo 2')] }, { text: 'All done.' }]),
    );
    await client.waitForEvent(id, 'tool.started');
    await receiver.trace(callersTrace, has('create_run'));
    await rondo.services.get('agent-worker').kill();
    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });

    const spans = await receiver.trace(callersTrace, (found) => isOver(found) && has('process tool_calls')(found));

    expectConnected(spans);
    expect(spans.filter(isNamed('execute_tool'))).toHaveLength(1);
    expect(spans.filter(isNamed('process tool_calls'))).toHaveLength(1);
  });

  it('has the end of a run that the gateway stops itself', async () => {
    const { id, thread_id } = await client.createRun(
      scriptInput('first', [{ text: 'slow '.repeat(400), pace_ms: 50 }]),
    );
    const waiting = await startTraced(client, {
      ...scriptInput('second', [{ text: 'Never.' }]),
      thread_id,
      on_active_run: 'queue',
    });
    await client.request('POST', `/runs/${waiting.id}/stop`, {});

    const spans = await receiver.trace(
      waiting.callersTrace,
      (found) => has('create_run')(found) && has('invoke_agent')(found),
    );

    expectConnected(spans);
    expect(onlyNamed(spans, 'invoke_agent')).toMatchObject({
      service: 'gateway',
      attributes: { 'rondo.run.status': 'stopped' },
    });
    await client.request('POST', `/runs/${id}/stop`, {});
    await client.waitForRun(id);
  });

  it('has a child run in the trace of its parent, below it', async () => {
    await client.json('PUT', '/agents/by-name/helper', { definition: { model: 'demo/scripted' } });
    const input = scriptInput('child', [{ text: 'I have helped.' }]).input;
    const { id, callersTrace } = await startTraced(client, {
      ...scriptInput('parent', [{ calls: [call('run_agent', { agent: 'helper', input })] }, { text: 'All done.' }]),
      tools: { run_agent: true },
    });
    await client.waitForRun(id);

    const spans = await receiver.trace(
      callersTrace,
      (found) => isOver(found) && has('execute_tool')(found) && found.filter(isNamed('invoke_agent')).length === 2,
    );

    expectConnected(spans);
    const [parent, child] = spans.filter(isNamed('invoke_agent')).sort((a, b) => a.startMs - b.startMs);
    expect(parent?.attributes['rondo.run.id']).toBe(id);
    expect(child?.parentSpanId).toBe(parent?.spanId);
    expect(onlyNamed(spans, 'execute_tool')).toMatchObject({
      name: 'execute_tool run_agent',
      parentSpanId: parent?.spanId,
    });
  });

  it('has the calls that the caller answers', async () => {
    const { id, callersTrace } = await startTraced(client, {
      ...scriptInput('asks its caller', [{ calls: [call('get_weather', { city: 'Oslo' })] }, { text: 'Done.' }]),
      caller_tools: [{ name: 'get_weather', description: 'The weather.', effect_class: 'pure' }],
    });
    await client.waitForRun(id);
    const [asked] = (await view(id)).waiting?.tool_calls ?? [];
    await client.json('POST', `/tool-calls/${asked?.tool_call_id}/result`, { output: 'Rain.' });
    await client.waitForRun(id);

    const spans = await receiver.trace(callersTrace, (found) => isOver(found) && has('execute_tool')(found));

    expectConnected(spans);
    expect(onlyNamed(spans, 'execute_tool')).toMatchObject({ service: 'gateway', failed: false });
  });

  it('begins a trace of its own for a fork', async () => {
    const origin = await startTraced(
      client,
      scriptInput('forked', [{ calls: [command('echo 1')] }, { text: 'All done.' }]),
    );
    await client.waitForRun(origin.id);
    const ends = (await client.facts(origin.id)).filter(({ type }) => type === 'iteration.completed');

    const fork = await client.json<Run>('POST', `/runs/${origin.id}/fork`, { at_seq: ends[0]?.seq });
    await client.waitForRun(fork.id);

    expect(fork.trace_id).not.toBe(origin.trace_id);
    const spans = await receiver.trace(fork.trace_id ?? '', isOver);
    expect(spans.filter(({ parentSpanId }) => parentSpanId === '').map(({ name }) => name)).toEqual(['create_run']);
  });

  it('links the view of a run to its trace, and log lines to it', async () => {
    const { id, callersTrace } = await startTraced(
      client,
      scriptInput('linked', [{ calls: [command('echo 1')] }, { text: 'All done.' }]),
    );
    await client.waitForRun(id);

    expect(await view(id)).toMatchObject({
      trace_id: callersTrace,
      trace_url: `https://traces.example/trace/${callersTrace}`,
    });
    const lines = readFileSync(join(rondo.directory, 'logs', 'tool-executor.log'), 'utf8').split('\n');
    const about = lines.filter((line) => line.includes(`"runId":"${id}"`));
    expect(about.length).toBeGreaterThan(0);
    for (const line of about) expect(JSON.parse(line)).toMatchObject({ trace_id: callersTrace });
  });

  it('does not trace a run whose caller says that it does not record', async () => {
    const { id, trace_id, callersTrace } = await startTraced(client, scriptInput('unsampled', [{ text: 'Hi.' }]), '00');
    await client.waitForRun(id);
    const later = await startTraced(client, scriptInput('later', [{ text: 'Hi.' }]));
    await client.waitForRun(later.id);
    await receiver.trace(later.callersTrace, isOver);

    expect(trace_id).toBeNull();
    expect(receiver.ofTrace(callersTrace)).toEqual([]);
    expect(await view(id)).not.toHaveProperty('trace_url');
  });

  it('ignores a malformed traceparent, and begins a trace', async () => {
    const { trace_id, callersTrace, id } = await startTraced(client, scriptInput('odd', [{ text: 'Hi.' }]), 'zz');

    expect(trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect(trace_id).not.toBe(callersTrace);
    await client.waitForRun(id);
  });

  it('sends neither content nor secrets (I12)', () => {
    expect(receiver.text).not.toContain(said);
    expect(receiver.text).not.toContain('echo one');
    expect(receiver.text).not.toContain('All done.');
    expect(receiver.text).not.toContain(client.key);
    expect(receiver.text).not.toContain(secretOfCollector);
    expect(receiver.headers[0]).toMatchObject({ authorization: `Bearer ${secretOfCollector}` });
    expect(receiver.text).toContain('deployment.environment.name');
  });
});

describe('a deployment that shows content in its traces', () => {
  let receiver: OtlpReceiver;
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
    const tracing = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces`,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    };
    rondo = await RunningRondo.start({
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'gateway'],
      settings: { 'tool-executor': tracing, 'agent-worker': tracing, gateway: tracing },
    });
    client = rondo.client();
  });

  afterAll(async () => {
    await rondo.stop();
    await receiver.stop();
  });

  const run = (about: string) =>
    startTraced(client, scriptInput(about, [{ calls: [command('echo one')] }, { text: 'All done.' }]));

  it('adds messages, arguments and results', async () => {
    const { id, callersTrace } = await run(said);
    await client.waitForRun(id);

    const spans = await receiver.trace(callersTrace, isOver);

    const [first, second] = spans.filter(isNamed('chat'));
    expect(first?.attributes['gen_ai.input.messages']).toContain(said);
    expect(second?.attributes['gen_ai.output.messages']).toContain('All done.');
    expect(JSON.parse(String(second?.attributes['gen_ai.input.messages']))).toMatchObject([
      { role: 'tool', parts: [{ type: 'tool_call_response' }] },
    ]);
    expect(onlyNamed(spans, 'execute_tool').attributes).toMatchObject({
      'gen_ai.tool.call.arguments': expect.stringContaining('echo one'),
      'gen_ai.tool.call.result': expect.stringContaining('one'),
    });
  });

  it.each(['hangs', 'refuses'] as const)('harms no run while the collector %s', async (manner) => {
    receiver.manner = manner;
    const before = receiver.requests;
    const runs = await Promise.all([1, 2, 3].map((n) => run(`${manner} ${n}`)));

    for (const { id } of runs) expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    while (receiver.requests === before) await new Promise((resolve) => setTimeout(resolve, 50)); // a batch is sent within a second
    receiver.manner = 'accepts';
  });

  it('harms no run when the collector is away, and the services end in time', async () => {
    await receiver.stop();
    const { id } = await run('away');

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    await rondo.services.get('agent-worker').stop();
  });
});

describe('without a collector', () => {
  it('nothing of the SDK of OpenTelemetry is loaded', async () => {
    // The metrics' library brings the package of the API, which does nothing by itself.
    const program = `
      const { openTracing } = require('@rondo/platform');
      const settings = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: false };
      openTracing(settings, { service: 'test', log: undefined }).then(({ isOn }) => {
        console.log(JSON.stringify({ isOn, loaded: Object.keys(require.cache).filter((file) => /@opentelemetry.(?!api)/.test(file)) }));
      });`;

    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { cwd: repoRoot });

    expect(JSON.parse(stdout)).toEqual({ isOn: false, loaded: [] });
  });
});
