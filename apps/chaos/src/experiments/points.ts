import { setTimeout as delay } from 'node:timers/promises';
import { type Experiment, toFindings } from '../experiment';
import { killInstance } from '../faults/kill-services';
import { comparable, findDifference, withoutAnswers } from '../points/comparable-messages';
import { type CrashPoint, crashPoints, firstWords } from '../points/crash-points';
import { RunObserver } from '../points/run-observer';
import { always } from '../scorecard/findings';
import { type ExaminedRun, examine } from '../test-bed/examine';
import { collect } from '../test-bed/patient-client';
import { quiet, type LaunchedRun, launch, repeatRequest, settle } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import { type RunRequest, keyCall, scriptRun, unsafeCommand } from '../test-bed/run-requests';

const sizes = { full: { kills: 5, runsPerKill: 4 }, small: { kills: 1, runsPerKill: 2 } };
const reachedWithinMs = 30_000;
const defaultSpreadMs = 3;

type Comparison = 'equal' | 'unknown' | 'different';

interface Compared {
  readonly verdict: Comparison;
  /** The first line that the oracle does not contain. */
  readonly difference: string;
}

export const points: Experiment = {
  name: 'points',
  title:
    'The process is killed at each named point in the life of a run, and the final conversation is compared with that of ' +
    'the same script without a fault: the same words, calls and answers, or honestly unknown. The moment is observed from outside (live events, the effect ' +
    'server), with a random delay of some milliseconds; the runs that are started together with the watched one are near ' +
    'the same point. The exact places between two statements are the simulation’s (`npm run simulate`). One worker and one ' +
    'executor, so that the right process is killed; leases of 3 s, since no time is judged.',

  deployment: () => ({
    leases: 'short',
    instances: ['demo-model', 'agent-worker', 'tool-executor', 'gateway', 'gateway'],
  }),

  async run(testBed, scale) {
    const { kills, runsPerKill } = sizes[scale.name];
    const oracle = await settle(testBed, await launch(testBed, twoSteps(testBed, 'oracle')), scale.quietMs);
    const expected = comparable(await collect(testBed.client.threads.messages(oracle.threadId)), oracle.tag);

    const crashed = new Map<string, LaunchedRun[]>();
    for (const [index, point] of crashPoints.entries()) {
      const runs: LaunchedRun[] = [];
      for (let kill = 0; kill < kills; kill += 1) {
        runs.push(
          ...(await crash(
            testBed,
            point,
            repeatRequest(`p${index}-${kill}`, runsPerKill, (tag) => twoSteps(testBed, tag)),
          )),
        );
      }
      crashed.set(point.name, await quiet(testBed, runs, scale.quietMs));
    }

    const examination = await examine(testBed, [oracle, ...[...crashed.values()].flat()]);
    const compared = new Map<string, Compared>();
    for (const run of examination.runs) compared.set(run.id, await compare(testBed, run, expected));
    const countAll = (runs: readonly LaunchedRun[], wanted: Comparison) =>
      runs.filter(({ id }) => compared.get(id)?.verdict === wanted).length;
    const different = examination.runs.filter(({ id }) => compared.get(id)?.verdict === 'different');
    return toFindings(testBed, examination, {
      size: `${crashPoints.length} points × ${kills} kills × ${runsPerKill} runs`,
      table: {
        head: ['point', 'killed', 'runs', 'equal', 'unknown', 'different'],
        rows: crashPoints.map(({ name, victim }) => {
          const runs = crashed.get(name) ?? [];
          return [
            name,
            victim,
            String(runs.length),
            ...(['equal', 'unknown', 'different'] as const).map((verdict) => String(countAll(runs, verdict))),
          ];
        }),
      },
      bars: [
        always('kills that landed', { times: testBed.faults.faults.length, of: crashPoints.length * kills }),
        always('conversations equal to the oracle, or honestly unknown', {
          times: examination.runs.length - different.length,
          of: examination.runs.length,
        }),
      ],
      details: [
        ...different.map(
          ({ id, tag }) => `${id} (${tag}) differs from the oracle: ${compared.get(id)?.difference ?? ''}`,
        ),
        ...examination.details,
      ],
    });
  },
};

const twoSteps = (testBed: TestBed, tag: string): RunRequest =>
  scriptRun(tag, [
    ...[1, 2].map((step) => ({
      text: firstWords,
      pace_ms: 4,
      chunk_chars: 12,
      calls: [
        unsafeCommand(testBed.effects, { tag: `${tag}/${step}/unsafe` }, { first: 'echo begun; ' }),
        keyCall(testBed.effects, { tag: `${tag}/${step}/keyed` }),
      ],
    })),
    { text: 'All done.' },
  ]);

/** Starts the runs together and kills the victim when the first of them reaches the point. */
async function crash(testBed: TestBed, point: CrashPoint, requests: readonly RunRequest[]): Promise<LaunchedRun[]> {
  const victim = testBed.rondo.services.get(point.victim);
  const observer = new RunObserver(testBed.rondo.client('gateway-2'), testBed.effects, requests[0]?.tag ?? '');
  const reached = point.reached(observer, (signal) => victim.kill(signal));
  const launches = requests.map((work) => launch(testBed, work));
  void launches[0]?.then(({ id }) => observer.follow(id));
  const isThere = await Promise.race([reached.then(() => true), delay(reachedWithinMs, false)]);
  if (isThere) {
    await delay(Math.random() * (point.spreadMs ?? defaultSpreadMs));
    await killInstance(testBed, victim);
  }
  observer.close();
  await victim.start();
  return Promise.all(launches);
}

async function compare(testBed: TestBed, { threadId, tag, facts }: ExaminedRun, expected: string[]): Promise<Compared> {
  const actual = comparable(await collect(testBed.client.threads.messages(threadId)), tag);
  if (isSame(actual, expected)) return { verdict: 'equal', difference: '' };
  const isUnknown = facts.some(({ type }) => type === 'tool.unknown');
  const isHonest = isUnknown && isSame(withoutAnswers(actual), withoutAnswers(expected));
  return { verdict: isHonest ? 'unknown' : 'different', difference: findDifference(actual, expected) };
}

const isSame = (one: readonly string[], other: readonly string[]): boolean => one.join('\n') === other.join('\n');
