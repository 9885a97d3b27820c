import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runEvents, socketMessages } from '@rondo/contract/api';
import { nextEvent } from '../testing/next-event';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const packages = join(__dirname, '../../../../node_modules');
const validator = join(__dirname, '../../testing/validate-documents.mjs');
const node = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: folder });

const gateway = RunningGateway.forSuite();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rondo-documents-'));
  for (const name of ['openapi.json', 'asyncapi.json']) {
    const { text } = await gateway.anonymous.get(`/${name}`).expect(200);
    await writeFile(join(folder, name), text);
  }
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** What a user writes against the generated types. Each line fails to compile where a type is `any`, `unknown` or not named. */
const client = `
import type { components, operations } from './api';

type Schemas = components['schemas'];
type Known<T> = unknown extends T ? never : T;

const run: Schemas['NewRun'] = { input: 'What is here?', model: 'demo/coder', agent: { processor: { dialect: 'native' } } };
const body: operations['createRun']['requestBody']['content']['application/json'] = run;
type Created = operations['createRun']['responses'][202]['content']['application/json'];
type Event = operations['streamRunEvents']['responses'][200]['content']['text/event-stream'];
type Page = operations['listRunEvents']['responses'][200]['content']['application/json'];
type Conflict = operations['createRun']['responses'][409]['content']['application/problem+json'];

const sameTypes = {
  created: (value: Known<Created>): Schemas['Run'] => value,
  event: (value: Known<Event>): Schemas['StreamEvent'] => value,
  fact: (value: Known<Page['data'][number]>): Schemas['RunEvent'] => value,
  conflict: (value: Known<Conflict>): Schemas['Problem'] => value,
  required: ({ settings }: Schemas['Run']): number => settings.limits.max_iterations,
};

function toText(event: Schemas['StreamEvent']): string {
  switch (event.type) {
    case 'message.delta': return event.data.text;
    case 'tool.call_delta': return event.data.arguments_text;
    case 'message.created': return event.data.message.content.map(blockText).join('');
    case 'tool.completed': return event.data.result.output;
    case 'run.stopped': return event.data.receipt.requested_at;
    case 'usage.recorded': return event.data.input_tokens.toFixed();
    case 'stream.gap': return event.data.from.toFixed();
    case 'stream.snapshot': return event.data.run.status;
    default: return event.id;
  }
}

function blockText(block: Schemas['ContentBlock']): string {
  if (block.type === 'image') return block.source.type === 'url' ? block.source.url : block.source.sha256;
  if (block.type === 'tool_call') return block.name;
  return block.type === 'tool_result' ? block.result.output : block.text;
}

function subscribed(answer: Schemas['RunSubscribeAcknowledgement']): number | string {
  return answer.ok ? answer.data.head_seq : answer.error.code;
}

// @ts-expect-error an unknown field
const wrong: Schemas['NewRun'] = { inptu: 'Go.' };
// @ts-expect-error a fact has no text
const none = (event: Schemas['RunCreated']): string => event.data.text;

export { body, none, sameTypes, subscribed, toText, wrong };
`;

describe('the API documents', () => {
  it('are valid OpenAPI 3.1 and AsyncAPI 3.0, with every reference resolved', async () => {
    const files = ['openapi.json', 'asyncapi.json'].map((name) => join(folder, name));
    await expect(node(validator, ...files)).resolves.toMatchObject({ stderr: '' });
  });

  it('generate types that a client compiles against', async () => {
    const api = join(folder, 'api.ts');
    const generate = join(packages, 'openapi-typescript/bin/cli.js');
    await node(generate, join(folder, 'openapi.json'), '--output', api, '--default-non-nullable=false');
    await writeFile(join(folder, 'client.ts'), client);

    const strict = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'esnext'];
    const compile = node(join(packages, 'typescript/bin/tsc'), ...strict, 'client.ts');
    expect(await compile.catch((error: unknown) => error)).toMatchObject({ stdout: '' });
  });

  it('name each operation after what a client does', async () => {
    const { body } = await gateway.anonymous.get('/openapi.json').expect(200);
    const { paths } = body as { paths: Record<string, Record<string, { operationId: string }>> };
    const ids = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));

    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => /^[a-z]+([A-Z][a-z]+)+$/.test(id))).toBe(true);
    expect(ids).toEqual(
      expect.arrayContaining(['createRun', 'getRun', 'listRunEvents', 'stopRun', 'answerRun', 'waitForRun']),
    );
  });

  it('describe the events and acknowledgements that a socket gets, with every field', async () => {
    const worker = await TestWorker.start(gateway.database);
    const run = await gateway.createRun();
    const socket = gateway.socket();
    const events: unknown[] = [];
    socket.on('event', (event: unknown) => events.push(event));
    const subscribed: unknown = await socket.emitWithAck('run.subscribe', { run_id: run.id });
    const claimed = await worker.claim(run.id);
    claimed.streamText('Hello');
    while (events.length < 4) await nextEvent(socket, 'event');
    await claimed.finishMessage();
    await claimed.complete();
    while (events.length < 6) await nextEvent(socket, 'event');
    const stopped: unknown = await socket.emitWithAck('run.stop', { run_id: run.id });
    const refused: unknown = await socket.emitWithAck('run.input', { run_id: run.id, content: 'Blue.' });
    const unsubscribed: unknown = await socket.emitWithAck('run.unsubscribe', { run_id: run.id });
    const created: unknown = await socket.emitWithAck('run.create', { input: 'Go.' });
    await worker.close();

    expect(events.map((event) => runEvents.streamRunEvents.answers[200].events.parse(event))).toEqual(events);
    expect(socketMessages['run.subscribe'].acknowledgement.parse(subscribed)).toEqual(subscribed);
    expect(socketMessages['run.stop'].acknowledgement.parse(stopped)).toEqual(stopped);
    expect(socketMessages['run.input'].acknowledgement.parse(refused)).toEqual(refused);
    expect(socketMessages['run.unsubscribe'].acknowledgement.parse(unsubscribed)).toEqual(unsubscribed);
    expect(socketMessages['run.create'].acknowledgement.parse(created)).toEqual(created);
  });
});
