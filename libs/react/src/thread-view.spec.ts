import type { Message, Run } from '@rondo/client';
import { pickRun, toThreadView } from './thread-view.ts';

const message = (id: string, runId: string) =>
  ({ id, run_id: runId, type: 'user', is_llm_message: true, content: [], metadata: {} }) as unknown as Message;
const run = (id: string, about: Partial<Run>) => ({ id, finish_reason: null, error: null, ...about }) as Run;

it('one run is followed, the messages around it are turns, and runs that did not complete say so', () => {
  const followed = run('run_2', { status: 'running' });
  const shown = toThreadView([message('a', 'run_1'), message('b', 'run_2'), message('c', 'run_3')], {
    run: followed,
    runs: [run('run_3', { status: 'queued' }), followed, run('run_1', { status: 'stopped' })],
    older: [run('run_0', { status: 'completed', finish_reason: 'stop' })],
  });

  expect(shown.before.map(({ runId }) => runId)).toEqual(['run_1']);
  expect(shown.after.map(({ runId }) => runId)).toEqual(['run_3']);
  expect(shown.queued.map(({ id }) => id)).toEqual(['run_3']);
  expect([...shown.endings.keys()]).toEqual(['run_1']);
});

it('the run is followed that is active, else the newest that has begun', () => {
  const [read, ended, active] = [
    run('run_3', { status: 'stopped', started_at: null }),
    run('run_2', { status: 'completed', started_at: '2026-01-01T00:00:00.000Z' }),
    run('run_1', { status: 'running' }),
  ];

  expect(pickRun([read, ended])).toBe(ended);
  expect(pickRun([read, active])).toBe(active);
  expect(pickRun([read])).toBe(read);
});
