import { setTimeout as delay } from 'node:timers/promises';
import { type Experiment, findingsOf } from '../experiment';
import { within } from '../scorecard/findings';
import { spreadOf } from '../scorecard/spread';
import { examine } from '../stage/examine';
import { firstFactAfter } from '../stage/first-fact-after';
import { quiet } from '../stage/run-through';
import { type LaunchedRun, launch, repeated } from '../stage/run-work';
import type { Stage } from '../stage/stage';
import { stepsOfTwo } from '../stage/work';

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
    'Every connection of every service to one server stalls: nothing arrives any more, and nobody is told. After a while ' +
    'what was sent arrives after all. First NATS, then Redis, then Postgres. Going on: from then to the next fact.',

  deployment: () => ({ behindWires: true }),

  async run(stage, scale) {
    const { runs: count, stallMs } = sizes[scale.name];
    const runs: LaunchedRun[] = [];
    const mendedAt = new Map<string, number>();
    for (const server of servers) {
      const works = repeated(server, count, (tag) => stepsOfTwo(stage.effects, { tag, iterations }));
      const launched = await Promise.all(works.map((work) => launch(stage, work)));
      await delay(underWayAfterMs);
      mendedAt.set(server, await stall(stage, server, stallMs));
      runs.push(...(await quiet(stage, launched, scale.quietMs)));
    }
    const examination = await examine(stage, runs);
    const goingOn = spreadOf(
      examination.runs.flatMap(({ tag, facts }) =>
        firstFactAfter(facts, mendedAt.get(tag.replace(/-\d+$/, '')) ?? NaN),
      ),
    );
    return findingsOf(stage, examination, {
      size: `${count} runs × ${iterations} iterations × 2 calls for each of ${servers.length} servers, stalled for ${stallMs / 1_000} s`,
      times: { 'going on': goingOn },
      bars: [within('going on p95', goingOn?.p95, 20_000)],
    });
  },
};

async function stall(stage: Stage, server: (typeof servers)[number], forMs: number): Promise<number> {
  const wire = stage.wires.to(server);
  stage.faults.note('stalled', server);
  stage.tally.faults += 1;
  wire.stall();
  await delay(forMs);
  wire.resume();
  return Date.now();
}
