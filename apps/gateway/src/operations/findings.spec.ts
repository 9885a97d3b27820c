import { type Found, findFaults } from './findings';

const at = '2026-01-01T00:00:00.000Z';
const executor = { id: 'exe_1', is_open: true, provider: 'embedded', load: null, lacks: {}, problem: null };
const jobs = { waiting: 0, active: 0, delayed: 0, consumers: 1 };
const fine: Found = {
  at,
  servers: { postgres: true, redis: true, nats: true },
  gateway: { watched_runs: 0, watchers: 0, connections: 0 },
  runs: {},
  queues: [
    { name: 'runs', due: 0, jobs },
    { name: 'compactions', due: 0, jobs },
  ],
  workers: [{ id: 'w1', runs: 1, lease_expires_at: '2026-01-01T00:00:09.000Z' }],
  processes: [
    { id: 'w1', service: 'agent-worker', heard_at: at, is_silent: false },
    { id: 's1', service: 'summarizer', heard_at: at, is_silent: false },
  ],
  outbox: { entries: 1, oldest_at: '2025-12-31T23:59:59.000Z' },
  executors: [executor],
};

it('a deployment that works has no findings', () => {
  expect(findFaults(fine)).toEqual([]);
});

it.each<[string, Partial<Found>]>([
  ['Postgres does not answer', { servers: { ...fine.servers, postgres: false }, outbox: null, workers: null }],
  [
    'Redis does not answer',
    { servers: { ...fine.servers, redis: false }, queues: [{ name: 'runs', due: 0, jobs: null }] },
  ],
  ['NATS does not answer', { servers: { ...fine.servers, nats: false }, executors: [] }],
  ['1 jobs are not in Redis yet', { outbox: { entries: 1, oldest_at: '2025-12-31T23:00:00.000Z' } }],
  [
    'No agent-worker takes jobs from the queue “runs”, and 3 runs wait',
    { queues: [{ name: 'runs', due: 3, jobs: { ...jobs, consumers: 0 } }] },
  ],
  ['The worker w1 is silent', { workers: [{ id: 'w1', runs: 1, lease_expires_at: '2025-12-31T23:59:59.000Z' }] }],
  [
    'The agent-worker w1 has given no sign of life since 2025-12-31T23:59:50.000Z: it is frozen, has died, or NATS does not serve it. Restart it. If that does not help, restart NATS. There is no other',
    {
      processes: [
        { id: 'w1', service: 'agent-worker', heard_at: '2025-12-31T23:59:50.000Z', is_silent: true },
        { id: 's1', service: 'summarizer', heard_at: at, is_silent: false },
      ],
      workers: [{ id: 'w1', runs: 1, lease_expires_at: '2025-12-31T23:59:59.000Z' }],
    },
  ],
  [
    'No agent-worker gives a sign of life, and 1 run waits: restart it',
    {
      processes: [{ id: 's1', service: 'summarizer', heard_at: at, is_silent: false }],
      queues: [{ name: 'runs', due: 1, jobs }],
    },
  ],
  ['No tool-executor was heard', { executors: [] }],
  ['No executor accepts further threads', { executors: [{ ...executor, is_open: false }] }],
  ['exe_1 runs no tools: no bubblewrap', { executors: [executor, { ...executor, problem: 'no bubblewrap' }] }],
])('%s', (words, change) => {
  expect(findFaults({ ...fine, ...change })).toEqual([expect.stringContaining(words)]);
});
