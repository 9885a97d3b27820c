import { setTimeout as delay } from 'node:timers/promises';
import { type Experiment, toFindings } from '../experiment';
import { killServices } from '../faults/kill-services';
import { AnswerLoad, callerTools, serverQuestions } from '../loads/answer-load';
import { ApprovalLoad } from '../loads/approval-load';
import { BalanceLoad, billingSettings } from '../loads/balance-load';
import type { Load, LoadAudit } from '../loads/load';
import { ScheduleLoad } from '../loads/schedule-load';
import { SecretLoad } from '../loads/secret-load';
import { SentWebhooks } from '../loads/sent-webhooks';
import { TreeLoad } from '../loads/tree-load';
import { TriggerLoad } from '../loads/trigger-load';
import { type Bar, atLeast, never } from '../scorecard/findings';
import { type Examination, examine } from '../test-bed/examine';
import { collect } from '../test-bed/patient-client';
import type { LaunchedRun } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import { flushRedis, serverOutage } from '../faults/server-outage';

const sizes = {
  full: { minutes: 5, atOnce: 3, webhookEveryMs: 700, killEveryMs: 5_000, serverEveryMs: 20_000, downMs: 3_000 },
  small: { minutes: 0.5, atOnce: 2, webhookEveryMs: 1_500, killEveryMs: 2_500, serverEveryMs: 5_000, downMs: 1_000 },
};
type Size = (typeof sizes)['full'];
const mix = { 'agent-worker': 5, 'tool-executor': 3, summarizer: 1 };
/** A killed gateway holds webhooks back for a minute, which a small campaign spends under load and not afterwards. */
const gatewaysForPart = { full: 1, small: 0.5 };
/** What a killed gateway was sending is due again after a minute, and what is refused besides a little later. */
const drainedWithinMs = 240_000;

export const mixed: Experiment = {
  name: 'mixed',
  title:
    'Everything at once: schedules, webhooks that start runs, webhooks that are sent, approvals by two deciders, calls of ' +
    "the caller's tools and questions of an MCP server that get two answers each, commands that send a secret, trees of " +
    'runs, and an account whose credit is used up. All the time a gateway and a random instance of another service are killed with ' +
    'SIGKILL, and Postgres, Redis and NATS in turn; Redis also loses what it holds. Then each thing must be there once.',

  deployment: () => ({ settings: billingSettings }),

  async run(testBed, scale) {
    const size = { ...sizes[scale.name], ...(scale.minutes !== undefined && { minutes: scale.minutes }) };
    const webhooks = await SentWebhooks.start(testBed);
    const loads = await startLoads(testBed, size);
    const forMs = size.minutes * 60_000;
    const outages = new AbortController();
    const over = outages.signal;
    const gatewaysOver = AbortSignal.timeout(forMs * gatewaysForPart[scale.name]);
    await Promise.all([
      ...loads.map((load) => load.run(over, forMs + scale.quietMs)),
      killServices(testBed, { mix, everyMs: size.killEveryMs, until: over }),
      killServices(testBed, { mix: { gateway: 1 }, everyMs: size.killEveryMs, until: gatewaysOver }),
      restartServers(testBed, { everyMs: size.serverEveryMs, downMs: size.downMs, forMs }).finally(() =>
        outages.abort(),
      ),
    ]);
    await webhooks.waitUntilSent(drainedWithinMs);

    const examination = await examine(testBed, await allRuns(testBed), { mayEnd: ['stopped'] });
    const audits = [...(await readAudits(loads, examination)), await webhooks.audit(examination)];
    return toFindings(testBed, examination, {
      size: `${size.minutes} minutes, ${size.atOnce} runs with approvals, ${size.atOnce} trees, ${size.atOnce} runs on credit and ${size.atOnce} with a secret at once, and ${size.atOnce - 1} of each kind that is answered twice; a gateway and another service killed every ${size.killEveryMs / 1_000} s once the one before is back, a server every ${size.serverEveryMs / 1_000} s`,
      counts: Object.assign({}, ...audits.map(({ counts }) => counts)) as Record<string, number>,
      table: {
        head: ['kind', 'seen', 'lost', 'doubled'],
        rows: audits.map(({ kind, seen, lost, doubled }) => [kind, seen, lost, doubled].map(String)),
      },
      bars: [
        ...['gateway', 'agent-worker'].map((service) => requireKills(testBed, service)),
        ...['postgres', 'redis', 'nats'].map((server) => requireKills(testBed, server)),
        ...audits.flatMap(listBars),
        never('runs that came from nothing', listUnexplained(examination, audits).length),
      ],
      details: [
        ...examination.details,
        ...audits.flatMap(({ details }) => details.slice(0, 10)),
        ...listUnexplained(examination, audits).slice(0, 10),
      ],
    });
  },
};

async function startLoads(testBed: TestBed, { atOnce, webhookEveryMs }: Size): Promise<readonly Load[]> {
  return [
    await ScheduleLoad.start(testBed),
    await TriggerLoad.start(testBed, webhookEveryMs),
    new ApprovalLoad(testBed, atOnce),
    new AnswerLoad(testBed, callerTools, atOnce - 1),
    new AnswerLoad(testBed, serverQuestions, atOnce - 1),
    await SecretLoad.start(testBed, atOnce),
    await TreeLoad.start(testBed, atOnce),
    await BalanceLoad.start(testBed, atOnce),
  ];
}

async function readAudits(loads: readonly Load[], examination: Examination): Promise<LoadAudit[]> {
  const audits: LoadAudit[] = [];
  for (const load of loads) audits.push(await load.audit(examination));
  return audits;
}

/** Every run of the campaign's own account, whatever started it. */
async function allRuns({ client }: TestBed): Promise<LaunchedRun[]> {
  const runs = await collect(client.runs.list());
  return runs.map((run) => ({ tag: run.preview ?? '', id: run.id, threadId: run.thread_id, settled: run }));
}

const requireKills = ({ faults }: TestBed, what: string): Bar =>
  atLeast(`kills of ${what}`, { seen: faults.times('kill -9', what).length, wanted: 1 });

const listBars = ({ kind, seen, lost, doubled, bars }: LoadAudit): Bar[] => [
  atLeast(kind, { seen, wanted: 1 }),
  never(`${kind}: lost`, lost),
  never(`${kind}: doubled`, doubled),
  ...bars,
];

const listUnexplained = ({ runs }: Examination, audits: readonly LoadAudit[]): string[] => {
  const known = new Set(audits.flatMap(({ runIds }) => runIds));
  return runs.filter(({ id }) => !known.has(id)).map(({ id, tag }) => `${id} (${tag}) came from nothing`);
};

/** Kills Postgres, Redis and NATS in turn, each down for up to `downMs`, and empties Redis; each once, and until `forMs` is over. */
async function restartServers(
  testBed: TestBed,
  { everyMs, downMs, forMs }: { everyMs: number; downMs: number; forMs: number },
): Promise<void> {
  const servers = ['postgres', 'redis', 'nats', undefined] as const;
  const until = Date.now() + forMs;
  for (let turn = 0; turn < servers.length || Date.now() < until; turn += 1) {
    await delay(everyMs);
    const server = servers[turn % servers.length];
    if (server === undefined) await flushRedis(testBed);
    else await serverOutage(testBed, server, Math.random() * downMs);
  }
}
