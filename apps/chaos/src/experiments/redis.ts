import { setTimeout as delay } from 'node:timers/promises';
import { type Experiment, toFindings } from '../experiment';
import { flushRedis, serverOutage } from '../faults/server-outage';
import { atLeast, within } from '../scorecard/findings';
import { type ExaminedRun, examine } from '../test-bed/examine';
import { quiet, launch, repeatRequest } from '../test-bed/start-runs';
import { stepsOfTwo } from '../test-bed/run-requests';

const sizes = {
  full: { runs: 90, iterations: 5, places: 4, outageMs: 10_000 },
  small: { runs: 18, iterations: 3, places: 1, outageMs: 3_000 },
};
const underWayAfterMs = 2_000;
/** A run that starts sooner after the flush may have left the queue before it. */
const alreadyOnItsWayMs = 500;

export const redis: Experiment = {
  name: 'redis',
  title:
    'Workers with few places, so that most runs wait in the queue; then FLUSHALL. The queue is rebuilt when a run that was ' +
    'waiting starts. Then Redis is killed under the same load and stays away for a while.',

  deployment: ({ name }) => ({ settings: { 'agent-worker': { RUN_CONCURRENCY: String(sizes[name].places) } } }),

  async run(testBed, scale) {
    const { runs: count, iterations, places, outageMs } = sizes[scale.name];
    const queueUp = (about: string) =>
      Promise.all(
        repeatRequest(about, count, (tag) => stepsOfTwo(testBed.effects, { tag, iterations })).map((work) =>
          launch(testBed, work),
        ),
      );
    const flushed = await queueUp('flush');
    await delay(underWayAfterMs);
    const flushedAt = await flushRedis(testBed);
    await quiet(testBed, flushed, scale.quietMs);

    const cutOff = await queueUp('outage');
    await delay(underWayAfterMs);
    await serverOutage(testBed, 'redis', outageMs);
    await quiet(testBed, cutOff, scale.quietMs);

    const examination = await examine(testBed, [...flushed, ...cutOff]);
    const startsAfter = examination.runs
      .filter(({ tag }) => tag.startsWith('flush'))
      .map((run) => toStart(run) - flushedAt)
      .filter((ms) => ms > alreadyOnItsWayMs);
    return toFindings(testBed, examination, {
      size: `${count} runs × ${iterations} iterations × 2 calls for 3 workers with ${places} places each, through FLUSHALL; as many through ${outageMs / 1_000} s without Redis`,
      counts: { 'waiting at FLUSHALL': startsAfter.length },
      bars: [
        atLeast('runs waiting in the queue at FLUSHALL', { seen: startsAfter.length, wanted: 1 }),
        within('queue rebuilt', Math.min(...startsAfter), 30_000),
      ],
    });
  },
};

const toStart = ({ facts }: ExaminedRun): number =>
  Date.parse(facts.find(({ type }) => type === 'run.started')?.at ?? '');
