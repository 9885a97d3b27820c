import { PassThrough } from 'node:stream';
import type { Rondo } from '@rondo/client';
import { followRun } from './follow-run';
import { Terminal } from './terminal';

it('withdraws its question at Ctrl-C when the run ends meanwhile, so that the command ends, too', async () => {
  const createScreen = () => Object.assign(new PassThrough(), { isTTY: true });
  const streams = { input: createScreen(), output: createScreen(), errors: createScreen() };
  const run = { id: 'run_a', status: 'completed', finish_reason: 'complete', iteration: 1, error: null, last_seq: 1 };
  const asked = new Promise<void>((resolve) => {
    streams.errors.on('data', (chunk: Buffer) => chunk.toString().includes('leave it running?') && resolve());
  });
  async function* stream() {
    process.emit('SIGINT');
    await asked;
    yield { id: 'evt_1', seq: 1, run_id: 'run_a', type: 'run.completed', data: { finish_reason: 'complete', usage } };
  }
  const usage = { input_tokens: 1, cached_tokens: 0, output_tokens: 1, cost_usd: null };
  const get = () => Promise.resolve({ ...run, usage });
  const result = () => Promise.resolve({ result: { response: '' } });
  const rondo = () => ({ runs: { stream, get, result } }) as unknown as Rondo; // what is used of it
  const terminal = new Terminal(streams, { json: false, colour: false });

  const ending = await followRun(
    'run_a',
    { onInterrupt: 'ask' },
    { terminal, rondo, url: 'http://gateway', key: () => 'key' },
  );

  expect(ending).toBe('ok');
  expect(streams.input.isPaused()).toBe(true); // nothing reads it any longer
});
