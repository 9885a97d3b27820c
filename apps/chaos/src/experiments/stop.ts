import { setTimeout as delay } from 'node:timers/promises';
import { type Fact, type ModelRequest, command } from '@rondo/test-deployment';
import { type Experiment, toFindings } from '../experiment';
import { serverOutage } from '../faults/server-outage';
import { always, never, within } from '../scorecard/findings';
import { findSpread } from '../scorecard/spread';
import { type Examination, examine } from '../test-bed/examine';
import { isSettled } from '../test-bed/patient-client';
import { launch, repeatRequest, settle } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import { type StoppedRun, modelClosings, newCalls, receiptIn, toolDeaths } from '../test-bed/stopped-run';
import { type RunRequest, scriptRun, stepsOfTwo } from '../test-bed/run-requests';

const sizes = {
  full: { stops: 300, atOnce: 6, withoutNats: 20 },
  small: { stops: 18, atOnce: 6, withoutNats: 4 },
};
const latestInstantMs = 2_500;
const closedWithinMs = 500;
const settledWithinMs = 30_000;
/** How many of the newest requests to the demo model are read; they include those of a run stopped just now. */
const recentRequests = 120;

export const stop: Experiment = {
  name: 'stop',
  title:
    'Runs are stopped at random instants of their first seconds, one in six at once, before a worker has claimed it: while the model ' +
    'streams, while a command runs that ignores SIGTERM and keeps calling the effect server, and between steps. Times count ' +
    'from the moment at which the client asks: until the demo model saw its stream closed, and until the receipt says that ' +
    'the command was seen dead. Then runs that stream are stopped while NATS is away.',

  async run(testBed, scale) {
    const size = sizes[scale.name];
    const kinds = [streaming, inTool, inTool, streaming, between, streaming];
    const requests = Array.from({ length: size.stops }, (_, n) => kinds[n % kinds.length]?.(testBed, `stop-${n + 1}`));
    const stopped = await stopAll(
      testBed,
      requests.flatMap((work) => work ?? []),
      size.atOnce,
    );
    const withoutNats = await stopWithoutNats(testBed, size.withoutNats);

    const all = [...stopped, ...withoutNats];
    const examination = await examine(
      testBed,
      all.map(({ run }) => run),
      { mayEnd: ['stopped'] },
    );
    const deaths = stopped.flatMap((one) => toolDeaths(one, listFacts(examination, one)));
    const closed = findSpread(stopped.flatMap(modelClosings));
    const dead = findSpread(deaths.flatMap((ms) => ms ?? []));
    const closedWithoutNats = findSpread(withoutNats.flatMap(modelClosings));
    return toFindings(testBed, examination, {
      size: `${size.stops} stops, ${size.atOnce} at once; ${size.withoutNats} with NATS down`,
      details: [
        ...examination.details,
        ...stopped.flatMap((one) => slowness(one, listFacts(examination, one))).slice(0, 10),
      ],
      counts: {
        stopped: all.filter(({ run }) => run.settled?.status === 'stopped').length,
        'over before the stop': all.filter(({ run }) => run.settled?.status === 'completed').length,
      },
      times: {
        'stop → model stream closed': closed,
        'stop → command verified dead': dead,
        'stop → model stream closed, NATS down': closedWithoutNats,
      },
      bars: [
        always('stopped, or over before', {
          times: all.filter(({ run }) => run.settled && isSettled(run.settled)).length,
          of: all.length,
        }),
        {
          ...never('commands not verified dead in time', deaths.filter((ms) => ms === undefined).length),
          about: 'time',
        },
        never(
          'calls after the receipt',
          all.reduce((sum, one) => sum + newCalls(testBed, one, listFacts(examination, one)), 0),
        ),
        within('model stream closed p99', closed?.p99, closedWithinMs),
        within('command verified dead p99', dead?.p99, 3_000),
        within('model stream closed p99, NATS down', closedWithoutNats?.p99, 5_000),
      ],
    });
  },
};

const streaming = (_testBed: TestBed, tag: string): RunRequest =>
  scriptRun(tag, [{ text: 'word '.repeat(2_000), pace_ms: 10, chunk_chars: 5 }]);

const inTool = ({ effects }: TestBed, tag: string): RunRequest => {
  const call = `curl -sS -m 2 -X POST -d pulse ${effects.url({ keyed: false, tag: `${tag}/pulse` })}`;
  return scriptRun(tag, [{ calls: [command(`trap "" TERM; while :; do ${call}; sleep 0.3; done`)] }, { text: 'No.' }]);
};

const between = ({ effects }: TestBed, tag: string): RunRequest => stepsOfTwo(effects, { tag, iterations: 10 });

/** Starts and stops the runs, `atOnce` at a time, each stop at a random instant. */
async function stopAll(testBed: TestBed, requests: readonly RunRequest[], atOnce: number): Promise<StoppedRun[]> {
  const waiting = [...requests];
  const stopped: StoppedRun[] = [];
  const worker = async (): Promise<void> => {
    for (let work = waiting.shift(); work; work = waiting.shift()) {
      const run = await launch(testBed, work);
      await delay(Math.random() < 1 / 6 ? 0 : Math.random() * latestInstantMs);
      stopped.push(await askToStop(testBed, run));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return stopped;
}

/** The stops are requested while NATS is down, so workers must find them in Postgres. Resolves once NATS is back. */
async function stopWithoutNats(testBed: TestBed, count: number): Promise<StoppedRun[]> {
  const runs = await Promise.all(
    repeatRequest('down', count, (tag) => streaming(testBed, tag)).map((work) => launch(testBed, work)),
  );
  await delay(latestInstantMs);
  const outage = serverOutage(testBed, 'nats', 10_000);
  await delay(200);
  const stopped = await Promise.all(runs.map((run) => askToStop(testBed, run)));
  await outage;
  return stopped;
}

async function askToStop(testBed: TestBed, run: StoppedRun['run']): Promise<StoppedRun> {
  const askedAt = Date.now();
  testBed.progress.faults += 1;
  await testBed.client.requestStop(run.id);
  await settle(testBed, run, settledWithinMs);
  return { run, askedAt, modelRequests: await listEndedRequests(testBed, run.tag) };
}

/** The demo model's requests of a run, once all are closed: it notices a closed connection shortly after the run ends. */
async function listEndedRequests(testBed: TestBed, tag: string): Promise<ModelRequest[]> {
  const deadline = Date.now() + settledWithinMs;
  for (;;) {
    const mine = (await testBed.rondo.modelRequests(recentRequests)).filter(({ body }) => body.includes(`${tag}\\n`));
    if (mine.every(({ ended_at }) => ended_at !== null) || Date.now() > deadline) return mine;
    await delay(50);
  }
}

function slowness(one: StoppedRun, facts: readonly Fact[]): string[] {
  const requestedAt = Date.parse(receiptIn(facts)?.requested_at ?? '');
  return modelClosings(one)
    .filter((ms) => ms > closedWithinMs)
    .map(
      (ms) =>
        `${one.run.id} (${one.run.tag}): its stream lived for ${ms} ms after the stop, which took ${requestedAt - one.askedAt} ms to be written`,
    );
}

const listFacts = ({ runs }: Examination, { run }: StoppedRun) => runs.find(({ id }) => id === run.id)?.facts ?? [];
