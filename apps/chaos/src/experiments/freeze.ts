import { setTimeout as delay } from 'node:timers/promises';
import { type Experiment, toFindings } from '../experiment';
import { always, atLeast } from '../scorecard/findings';
import { type ExaminedRun, examine } from '../test-bed/examine';
import { comesTrue } from '../test-bed/pace';
import { quiet, type LaunchedRun, launch, repeatRequest } from '../test-bed/start-runs';
import { stepsOfTwo } from '../test-bed/run-requests';
import type { TestBed } from '../test-bed/test-bed';

const sizes = {
  full: { runs: 24, forMs: 60_000, othersForMs: 20_000 },
  small: { runs: 9, forMs: 12_000, othersForMs: 4_000 },
};
const iterations = 10;

export const freeze: Experiment = {
  name: 'freeze',
  title:
    'A worker is stopped with SIGSTOP for much longer than a lease lives, in the middle of its runs, and continued with ' +
    'SIGCONT believing that it still holds them. Its late writes must be refused: logs stay contiguous, epochs never go ' +
    'back, and nothing follows the end to which another worker brought a run. Then an executor, a gateway and the ' +
    'summarizer are frozen together.',

  async run(testBed, scale) {
    const size = sizes[scale.name];
    const steps = (about: string) =>
      Promise.all(
        repeatRequest(about, size.runs, (tag) => stepsOfTwo(testBed.effects, { tag, iterations })).map((work) =>
          launch(testBed, work),
        ),
      );
    const first = await steps('worker');
    await getUnderWay(testBed, first, scale.quietMs);
    const worker = await findBusiestWorker(testBed, scale.quietMs);
    const frozenAt = Date.now();
    await freezeService(testBed, worker, size.forMs);
    const wokenAt = Date.now();
    await quiet(testBed, first, scale.quietMs);

    const second = await steps('others');
    await getUnderWay(testBed, second, scale.quietMs);
    await Promise.all(
      ['tool-executor', 'gateway', 'summarizer'].map((one) => freezeService(testBed, one, size.othersForMs)),
    );
    await quiet(testBed, second, scale.quietMs);

    const examination = await examine(testBed, [...first, ...second]);
    const taken = examination.runs.filter((run) => wasTakenOver(run, { frozenAt, wokenAt }));
    const over = taken.filter(({ facts }) => Date.parse(facts.at(-1)?.at ?? '') <= wokenAt);
    return toFindings(testBed, examination, {
      size: `${size.runs} runs × ${iterations} iterations × 2 calls, a worker frozen for ${size.forMs / 1_000} s; as many again, the others for ${size.othersForMs / 1_000} s`,
      counts: { 'taken over from the frozen worker': taken.length },
      bars: [
        atLeast('runs taken over from the frozen worker', { seen: taken.length, wanted: 1 }),
        {
          ...always('of them, ended by another before it woke', { times: over.length, of: taken.length }),
          about: 'time',
        },
      ],
    });
  },
};

/** Whether its epoch changed while the worker was frozen. */
const wasTakenOver = ({ facts }: ExaminedRun, { frozenAt, wokenAt }: { frozenAt: number; wokenAt: number }): boolean =>
  facts.some(({ epoch, at }, index) => {
    const before = facts[index - 1]?.epoch ?? 0;
    return before > 0 && epoch > before && Date.parse(at) > frozenAt && Date.parse(at) < wokenAt;
  });

/** Waits until each has completed a call: a worker that has written nothing leaves nothing to take over. */
async function getUnderWay({ client }: TestBed, runs: readonly LaunchedRun[], withinMs: number): Promise<void> {
  const isUnderWay = async ({ id }: LaunchedRun) =>
    (await client.facts(id)).some(({ type }) => type === 'tool.completed');
  await comesTrue(async () => (await Promise.all(runs.map(isUnderWay))).every(Boolean), withinMs);
}

/** The instance that holds most runs: their order of arrival at three workers is theirs, and one may have none. */
async function findBusiestWorker(testBed: TestBed, withinMs: number): Promise<string> {
  let busiest: string | undefined;
  await comesTrue(async () => {
    const { workers } = await testBed.client.deploymentHealth();
    const holders = (workers ?? []).toSorted((one, other) => other.runs - one.runs);
    const instances = testBed.instances('agent-worker');
    busiest = holders.flatMap(({ id }) => instances.filter(({ pid }) => id.includes(`-${pid}-`)))[0]?.name;
    return busiest !== undefined;
  }, withinMs);
  if (busiest === undefined) throw new Error('no worker has taken a run');
  return busiest;
}

/** SIGSTOP, then SIGCONT: the process continues without noticing that its leases have expired. */
async function freezeService(testBed: TestBed, instance: string, forMs: number): Promise<void> {
  const victim = testBed.rondo.services.get(instance);
  testBed.faults.note('SIGSTOP', instance);
  testBed.progress.faults += 1;
  await victim.kill('SIGSTOP');
  try {
    await delay(forMs);
  } finally {
    await victim.kill('SIGCONT');
  }
}
