import { setTimeout as delay } from 'node:timers/promises';
import { type Experiment, toFindings } from '../experiment';
import { serverOutage, serverOutages } from '../faults/server-outage';
import { always, within } from '../scorecard/findings';
import { findSpread } from '../scorecard/spread';
import { examine } from '../test-bed/examine';
import { firstFactAfter } from '../test-bed/takeovers';
import { type LaunchedRun, launch, repeatRequest, runAll, settle, requestsWhile } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import { scriptRun, stepsOfTwo } from '../test-bed/run-requests';

const sizes = {
  full: { runs: 20, talks: 5, downMs: 60_000, flappingMs: 60_000, everyMs: 3_000 },
  small: { runs: 5, talks: 2, downMs: 6_000, flappingMs: 6_000, everyMs: 2_000 },
};
const underWayAfterMs = 1_500;
const iterations = 10;

export const nats: Experiment = {
  name: 'nats',
  title:
    'NATS is killed under runs whose calls need it, and is back after a while; runs that only talk are started meanwhile. ' +
    'Then it is killed and started in turn while runs come and go. Going on: from its return to the next fact of each run.',

  async run(testBed, scale) {
    const size = sizes[scale.name];
    const outage = await throughOutage(testBed, size, scale.quietMs);
    const flapping = await throughFlapping(testBed, size, scale.quietMs);
    const examination = await examine(testBed, [...outage.runs, ...outage.talks, ...flapping]);
    const goingOn = findSpread(
      examination.runs
        .filter(({ tag }) => tag.startsWith('outage'))
        .flatMap(({ facts }) => firstFactAfter(facts, outage.backAt)),
    );
    return toFindings(testBed, examination, {
      size: `${size.runs} runs × ${iterations} iterations × 2 calls through ${size.downMs / 1_000} s without it; as many at once for ${size.flappingMs / 1_000} s while it flaps every ${size.everyMs / 1_000} s`,
      times: { 'going on': goingOn },
      bars: [
        always('runs that only talk completed meanwhile', { times: outage.talksOver, of: size.talks }),
        within('going on, the slowest', goingOn?.max, 10_000),
      ],
    });
  },
};

async function throughOutage(
  testBed: TestBed,
  { runs: count, talks: talkers, downMs }: (typeof sizes)['full'],
  quietMs: number,
) {
  const runs = await launchAll(
    testBed,
    repeatRequest('outage', count, (tag) => stepsOfTwo(testBed.effects, { tag, iterations })),
  );
  await delay(underWayAfterMs);
  const words = repeatRequest('talk', talkers, (tag) => scriptRun(tag, [{ text: 'Just a word.' }]));
  let talks: LaunchedRun[] = [];
  const talk = async () => {
    talks = await launchAll(testBed, words);
    await Promise.all([delay(downMs), ...talks.map((run) => settle(testBed, run, downMs + quietMs))]);
  };
  const backAt = await serverOutage(testBed, 'nats', talk);
  const talksOver = talks.filter(({ settled }) => settled?.status === 'completed').length;
  await Promise.all(runs.map((run) => settle(testBed, run, quietMs)));
  return { runs, talks, talksOver, backAt };
}

async function throughFlapping(
  testBed: TestBed,
  { runs, flappingMs, everyMs }: (typeof sizes)['full'],
  quietMs: number,
) {
  const over = AbortSignal.timeout(flappingMs);
  const halves = [everyMs / 2, everyMs / 2] as const;
  const [flapped] = await Promise.all([
    runAll(
      testBed,
      requestsWhile(over, 'flapping', (tag) => stepsOfTwo(testBed.effects, { tag, iterations: 4 })),
      {
        atOnce: runs,
        withinMs: flappingMs + quietMs,
      },
    ),
    serverOutages(testBed, 'nats', { pauseMs: halves, downMs: halves, until: over }),
  ]);
  return flapped;
}

const launchAll = (testBed: TestBed, requests: Parameters<typeof launch>[1][]): Promise<LaunchedRun[]> =>
  Promise.all(requests.map((work) => launch(testBed, work)));
