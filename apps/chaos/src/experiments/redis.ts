import { setTimeout as delay } from 'node:timers/promises';
import { type Experiment, findingsOf } from '../experiment';
import { flushRedis } from '../faults/flush-redis';
import { serverOutage } from '../faults/server-outage';
import { atLeast, within } from '../scorecard/findings';
import { type ExaminedRun, examine } from '../stage/examine';
import { quiet } from '../stage/run-through';
import { launch, repeated } from '../stage/run-work';
import { stepsOfTwo } from '../stage/work';

const sizes = {
  full: { runs: 90, iterations: 5, places: 4, outageMs: 10_000 },
  small: { runs: 18, iterations: 3, places: 1, outageMs: 3_000 },
};
const underWayAfterMs = 2_000;
/** What starts sooner after the flush may have been on its way to a worker already. */
const alreadyOnItsWayMs = 500;

export const redis: Experiment = {
  name: 'redis',
  title:
    'Workers with few places, so that most runs wait in the queue; then FLUSHALL. The queue is rebuilt when a run that was ' +
    'waiting starts. Then Redis is killed under the same load and stays away for a while.',

  deployment: ({ name }) => ({ settings: { 'agent-worker': { RUN_CONCURRENCY: String(sizes[name].places) } } }),

  async run(stage, scale) {
    const { runs: count, iterations, places, outageMs } = sizes[scale.name];
    const queueUp = (about: string) =>
      Promise.all(
        repeated(about, count, (tag) => stepsOfTwo(stage.effects, { tag, iterations })).map((work) =>
          launch(stage, work),
        ),
      );
    const flushed = await queueUp('flush');
    await delay(underWayAfterMs);
    const flushedAt = await flushRedis(stage);
    await quiet(stage, flushed, scale.quietMs);

    const cutOff = await queueUp('outage');
    await delay(underWayAfterMs);
    await serverOutage(stage, 'redis', outageMs);
    await quiet(stage, cutOff, scale.quietMs);

    const examination = await examine(stage, [...flushed, ...cutOff]);
    const startsAfter = examination.runs
      .filter(({ tag }) => tag.startsWith('flush'))
      .map((run) => startOf(run) - flushedAt)
      .filter((ms) => ms > alreadyOnItsWayMs);
    return findingsOf(stage, examination, {
      size: `${count} runs × ${iterations} iterations × 2 calls for 3 workers with ${places} places each, through FLUSHALL; as many through ${outageMs / 1_000} s without Redis`,
      counts: { 'waiting at FLUSHALL': startsAfter.length },
      bars: [
        atLeast('runs waiting in the queue at FLUSHALL', { seen: startsAfter.length, wanted: 1 }),
        within('queue rebuilt', Math.min(...startsAfter), 30_000),
      ],
    });
  },
};

const startOf = ({ facts }: ExaminedRun): number =>
  Date.parse(facts.find(({ type }) => type === 'run.started')?.at ?? '');
