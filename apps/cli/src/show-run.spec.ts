import { PassThrough } from 'node:stream';
import type { StreamEvent } from '@rondo/client';
import { RunDisplay } from './show-run';
import { Terminal } from './terminal';

/** What the display writes of a call that took so long. */
async function show(duration_ms: number): Promise<string> {
  const streams = { input: new PassThrough(), output: new PassThrough(), errors: new PassThrough() };
  const terminal = new Terminal(streams, { json: false, colour: false });
  const result = { success: true, output: '' };
  const data = { tool_call_id: 'call_1', name: 'read_file', message_id: 'msg_1', result, duration_ms };
  new RunDisplay(terminal, 0).show({
    ...{ id: 'evt_1', v: 1, seq: 1, run_id: 'run_1', thread_id: 'thr_1', iteration: 1, epoch: 1 },
    ...{ at: '2026-11-25T09:00:00.000Z', type: 'tool.completed', data },
  } as unknown as StreamEvent); // ids in short
  streams.errors.end();
  return (await streams.errors.toArray()).join('');
}

it.each([
  [0, '✓ read_file\n'],
  [12.4, '✓ read_file in 12 ms\n'],
  [2_840, '✓ read_file in 2.8 s\n'],
])('a call of %d ms is shown with the time that it took', async (duration, line) => {
  expect(await show(duration)).toBe(line);
});
