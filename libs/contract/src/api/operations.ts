import { z } from 'zod';
import { type ApiSchemas, defineRoutes } from './route';

const count = z.number().int();

const queue = z.object({
  name: z.string(),
  due: count.nullable().describe('Runs in Postgres that wait for a worker. Null while Postgres does not answer.'),
  jobs: z
    .object({
      waiting: count,
      active: count,
      delayed: count,
      consumers: count.describe('Connections of workers to this queue.'),
    })
    .nullable()
    .describe('Null while Redis does not answer.'),
});

const worker = z.object({
  id: z.string(),
  runs: count.describe('Runs that it holds.'),
  lease_expires_at: z.iso.datetime().describe('When the first of its leases ends, unless it is renewed.'),
});

const runHolder = z.object({
  id: z.string().describe('The name under which it holds runs.'),
  service: z.string().describe('`agent-worker` or `summarizer`.'),
  heard_at: z.iso.datetime().describe('When it gave its last sign of life; each gives one a second.'),
  is_silent: z.boolean().describe('It misses signs: it is frozen, or has died.'),
});

const executor = z.object({
  id: z.string(),
  is_open: z.boolean().describe('Whether it accepts further threads.'),
  provider: z.string().nullable(),
  load: z
    .object({
      calls: z.object({ running: count, waiting: count, slots: count }),
      sandboxes: z.object({ awake: count, max: count }),
    })
    .nullable(),
  lacks: z.record(z.string(), z.string()).describe('What tools need and it does not have, with the reason.'),
  problem: z.string().nullable().describe('Why it runs no tools at all.'),
});

const deploymentHealth = z.object({
  at: z.iso.datetime(),
  servers: z
    .object({ postgres: z.boolean(), redis: z.boolean(), nats: z.boolean() })
    .describe('Which of them answer this gateway.'),
  gateway: z
    .object({ watched_runs: count, watchers: count, connections: count })
    .describe('What this gateway serves; others have their own numbers.'),
  runs: z.record(z.string(), count).nullable().describe('Runs that are not over, of all accounts, by status.'),
  queues: z.array(queue),
  workers: z.array(worker).nullable().describe('Those that hold runs.'),
  processes: z
    .array(runHolder)
    .nullable()
    .optional()
    .describe(
      'Workers and summarizers, idle ones too, heard in the last minute. Null without NATS, and in the first seconds.',
    ),
  outbox: z
    .object({ entries: count, oldest_at: z.iso.datetime().nullable() })
    .nullable()
    .describe('Jobs that are not in Redis yet.'),
  executors: z.array(executor).nullable().describe('Those that were heard in the last seconds. Null without NATS.'),
  findings: z
    .array(z.string())
    .optional()
    .describe('In English, for people: what is not as it should be, what follows from it, and what to do.'),
});
export type DeploymentHealth = z.infer<typeof deploymentHealth>;

export const operations = defineRoutes('operations', {
  getLiveness: {
    method: 'GET',
    path: '/health/live',
    summary: 'Say that this process is alive',
    role: 'open',
    answers: { 200: {} },
  },
  getReadiness: {
    method: 'GET',
    path: '/health/ready',
    summary: 'Say whether this process can serve requests',
    role: 'open',
    answers: { 200: {}, 503: {} },
  },
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Read the metrics of this process, for Prometheus',
    role: 'open',
    answers: { 200: {} },
  },
  getDeploymentHealth: {
    method: 'GET',
    path: '/v1/admin/health',
    summary: 'Read what the whole deployment does: queues, workers, executors; for its operator',
    description: 'Of one moment, as this gateway sees it. What a server that does not answer would say is null.',
    role: 'operator',
    answers: { 200: { body: deploymentHealth } },
  },
});

export const operationSchemas: ApiSchemas = {
  answers: { DeploymentHealth: deploymentHealth },
  examples: {
    DeploymentHealth: {
      at: '2026-11-25T09:00:00.000Z',
      servers: { postgres: true, redis: true, nats: true },
      gateway: { watched_runs: 3, watchers: 4, connections: 5 },
      runs: { running: 2, waiting_input: 1 },
      queues: [{ name: 'runs', due: 0, jobs: { waiting: 0, active: 2, delayed: 0, consumers: 2 } }],
      workers: [{ id: 'agent-worker:4c1f', runs: 2, lease_expires_at: '2026-11-25T09:00:12.000Z' }],
      processes: [
        { id: 'agent-worker:4c1f', service: 'agent-worker', heard_at: '2026-11-25T08:59:59.200Z', is_silent: false },
      ],
      outbox: { entries: 0, oldest_at: null },
      executors: [
        {
          id: 'exe_l7tcJqvdbLs2QX1jTts3OdWCm8C6TW-i',
          is_open: true,
          provider: 'embedded',
          load: { calls: { running: 1, waiting: 0, slots: 32 }, sandboxes: { awake: 2, max: 20 } },
          lacks: {},
          problem: null,
        },
      ],
      findings: [],
    },
  },
};
