import { setTimeout as delay } from 'node:timers/promises';
import { type Experiment, toFindings } from '../experiment';
import { always, atLeast } from '../scorecard/findings';
import { type ExaminedRun, examine } from '../test-bed/examine';
import { quiet } from '../test-bed/run-under-fault';
import { launch, repeated } from '../test-bed/start-runs';
import { stepsOfTwo } from '../test-bed/run-requests';
import type { TestBed } from '../test-bed/test-bed';

const sizes = {
  full: { runs: 24, forMs: 60_000, othersForMs: 20_000 },
  small: { runs: 9, forMs: 12_000, othersForMs: 4_000 },
};
const underWayAfterMs = 1_500;
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
        repeated(about, size.runs, (tag) => stepsOfTwo(testBed.effects, { tag, iterations })).map((work) =>
          launch(testBed, work),
        ),
      );
    const first = await steps('worker');
    await delay(underWayAfterMs);
    const frozenAt = Date.now();
    await freezeService(testBed, 'agent-worker', size.forMs);
    const wokenAt = Date.now();
    await quiet(testBed, first, scale.quietMs);

    const second = await steps('others');
    await delay(underWayAfterMs);
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
