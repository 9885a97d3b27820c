import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RondoClient, RunningRondo, call, command, scriptInput, smallContext } from '@rondo/test-deployment';
import { z } from 'zod';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import {
  type SentMessage,
  WireRecorder,
  toExample,
  oneOfEachShape,
} from '../../../deploy/local/tests/wire-recorder.mjs';

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];

/** Set while a release is recorded: the messages are compared with themselves and written to this directory. */
const recording = process.env['RECORD_RELEASE'];
const released = JSON.parse(
  readFileSync(
    recording === undefined
      ? join(repoRoot, 'libs/messaging/src/released/released-messages.json')
      : join(recording, 'structures.json'),
    'utf8',
  ),
) as { messages: Record<string, SentMessage> };
const kinds = Object.keys(released.messages);

describe('messages of services, read by services of the previous version', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let recorder: WireRecorder;

  beforeAll(async () => {
    recorder = new WireRecorder(released.messages);
    rondo = await RunningRondo.start({
      settings: { 'agent-worker': { RETENTION_EVERY_MS: '200' } },
      through: async (servers) => {
        await recorder.start({ natsUrl: servers.NATS_URL ?? '', redisUrl: servers.REDIS_URL ?? '' });
        return servers;
      },
    });
    client = rondo.client();
    await useEverything();
  });

  afterAll(async () => {
    if (recording !== undefined) {
      const examples = kinds.map((kind) => [
        kind,
        oneOfEachShape((recorder.heard[kind] ?? []).map((one) => toExample(one))),
      ]);
      writeFileSync(join(recording, 'examples.json'), JSON.stringify(Object.fromEntries(examples)));
    }
    await recorder.close();
    await rondo.stop();
  });

  const settled = async (body: Record<string, unknown>, status = 'completed') => {
    const run = await client.createRun(body);
    expect(await client.waitForRun(run.id)).toMatchObject({ status });
    return run;
  };

  /** Uses every feature that sends messages, so that each kind is recorded at least once. */
  const useEverything = async (): Promise<void> => {
    await callTools();
    await stopRuns();
    await compactMessages();
    await placeThread();
  };

  const callTools = async () => {
    const read = { name: 'read_file', arguments: { file_path: 'file' } };
    const turns = [
      { calls: [command('echo text | tee file; echo trouble >&2; exit 3')] },
      { calls: [read] },
      { text: 'Done. '.repeat(50) },
    ];
    const { thread_id } = await settled(scriptInput('tools of each kind', turns));
    await client.json('DELETE', `/threads/${thread_id}`).catch(() => undefined); // its answer has no body
    await recorder.until('sandboxForgetAnswer');
  };

  const stopRuns = async () => {
    const leaves = { calls: [call('execute_command', { command: 'sleep 1000', session_name: 'server' })] };
    const works = { calls: [command('echo running; sleep 1000')] };
    const speaks = { text: 'word '.repeat(2_000), pace_ms: 20, chunk_chars: 5 };
    for (const [turns, sign] of [
      [[works], 'tool.output'],
      [[leaves, speaks], 'message.delta'],
    ] as const) {
      const run = await client.createRun(scriptInput('stop', turns));
      await client.waitForEvent(run.id, sign);
      await client.waitForEvent(run.id, sign); // a late subscriber requests the text so far from the worker
      await client.json('POST', `/runs/${run.id}/stop`, { reason: 'enough' });
      expect(await client.waitForRun(run.id)).toMatchObject({ status: 'stopped' });
    }
  };

  const compactMessages = () =>
    settled({
      model: 'demo/loop:turns=16,output_bytes=2000',
      input: 'Go on until you are done.',
      tools: ['execute_command', 'expand_message'],
      context: { ...smallContext, summary_model: 'demo/summary' },
    });

  /** A worker requests a place only if it has heard of no open executor: this one is paused until it is asked. */
  const placeThread = async () => {
    const [worker, executor] = [rondo.services.get('agent-worker'), rondo.services.get('tool-executor')];
    await worker.stop();
    const run = await client.createRun(scriptInput('place', [{ calls: [command('true')] }, { text: 'Done.' }]));
    await executor.kill('SIGSTOP');
    try {
      await worker.start();
      await recorder.until('place');
    } finally {
      await executor.kill('SIGCONT');
    }
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    await recorder.until('placeAnswer');
  };

  it.each(kinds)('%s', (kind) => {
    const sent = recorder.heard[kind] ?? [];
    const schema = z.fromJSONSchema((released.messages[kind]?.schema ?? false) as JsonSchema);
    const refused = sent.flatMap((message) => {
      const { error } = schema.safeParse(message);
      return error ? [{ message, reason: z.prettifyError(error) }] : [];
    });

    expect(sent).not.toEqual([]);
    expect(refused.slice(0, 3)).toEqual([]);
  });
});

describe('an example of a message', () => {
  it('keeps its fields, their types and the protocol’s constants, and no values of its run', () => {
    const sent = {
      run_id: 'run_01KAWXT2S4F0000000',
      how: 'stopped',
      verified_dead_at: '2026-11-25T02:00:00.123Z',
      duration_ms: 12.25,
      arguments: { command: 'true' },
      tools: [{ name: 'read_file', output: 'words' }, { name: 'read_file', output: 'others' }, { name: null }],
    };

    expect(toExample(sent)).toEqual({
      run_id: 'run_1',
      how: 'stopped',
      verified_dead_at: '2030-01-01T00:00:00.000Z',
      duration_ms: 0.5,
      arguments: {},
      tools: [{ name: 'read_file', output: 'text' }, { name: null }],
    });
  });
});
