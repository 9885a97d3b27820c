import { setTimeout as delay } from 'node:timers/promises';
import { type Experiment, toFindings } from '../experiment';
import { within } from '../scorecard/findings';
import { findSpread } from '../scorecard/spread';
import { examine } from '../test-bed/examine';
import { firstFactAfter } from '../test-bed/takeovers';
import { quiet, type LaunchedRun, launch, repeatRequest } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import { stepsOfTwo } from '../test-bed/run-requests';

const sizes = {
  full: { runs: 12, stallMs: 20_000 },
  small: { runs: 4, stallMs: 5_000 },
};
const underWayAfterMs = 1_500;
const iterations = 8;
const servers = ['NATS_URL', 'REDIS_URL', 'DATABASE_URL'] as const;

export const halfOpen: Experiment = {
  name: 'half-open',
  title:
    'Every connection of every service to one server stalls: no data arrives and no side sees an error. After a while ' +
    'what was sent arrives. First NATS, then Redis, then Postgres. Going on: from then to the next fact.',

  deployment: () => ({ behindProxies: true }),

  async run(testBed, scale) {
    const { runs: count, stallMs } = sizes[scale.name];
    const runs: LaunchedRun[] = [];
    const mendedAt = new Map<string, number>();
    for (const server of servers) {
      const requests = repeatRequest(server, count, (tag) => stepsOfTwo(testBed.effects, { tag, iterations }));
      const launched = await Promise.all(requests.map((work) => launch(testBed, work)));
      await delay(underWayAfterMs);
      mendedAt.set(server, await stall(testBed, server, stallMs));
      runs.push(...(await quiet(testBed, launched, scale.quietMs)));
    }
    const examination = await examine(testBed, runs);
    const goingOn = findSpread(
      examination.runs.flatMap(({ tag, facts }) =>
        firstFactAfter(facts, mendedAt.get(tag.replace(/-\d+$/, '')) ?? NaN),
      ),
    );
    return toFindings(testBed, examination, {
      size: `${count} runs × ${iterations} iterations × 2 calls for each of ${servers.length} servers, stalled for ${stallMs / 1_000} s`,
      times: { 'going on': goingOn },
      bars: [within('going on p95', goingOn?.p95, 20_000)],
    });
  },
};

async function stall(testBed: TestBed, server: (typeof servers)[number], forMs: number): Promise<number> {
  const proxy = testBed.proxies.to(server);
  testBed.faults.note('stalled', server);
  testBed.progress.faults += 1;
  proxy.stall();
  await delay(forMs);
  proxy.resume();
  return Date.now();
}
