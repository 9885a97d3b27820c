import type { Fact } from '@rondo/test-deployment';
import { type Experiment, toFindings } from '../experiment';
import { never, within } from '../scorecard/findings';
import { findSpread } from '../scorecard/spread';
import { type ExaminedRun, examine } from '../test-bed/examine';
import { runUnderFault, requestsWhile } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import { stepsOfTwo } from '../test-bed/run-requests';

const sizes = {
  full: { rounds: 5, live: 50, iterations: 10 },
  small: { rounds: 1, live: 6, iterations: 5 },
};

/** Longer than a service's own time limit for draining. */
const drainLimitMs = 9_500;

export const rolling: Experiment = {
  name: 'rolling',
  title:
    'Every instance of every service in turn gets SIGTERM, drains, exits and is started again, under ' +
    'runs that come and go. Nothing may fail, and nothing may be done again because of it: no iteration, no model call, no ' +
    'tool call. (The demo model is not restarted: it stands for a provider.)',

  /** Production leases: a short one that expires on a slow machine would look like a lost attempt. */
  deployment: () => ({ leases: 'production' }),

  async run(testBed, scale) {
    const { rounds, live, iterations } = sizes[scale.name];
    const over = new AbortController();
    const requests = requestsWhile(over.signal, 'rolling', (tag) => stepsOfTwo(testBed.effects, { tag, iterations }));
    const exits: number[] = [];
    const runs = await runUnderFault(testBed, { requests, atOnce: live, quietMs: scale.quietMs }, async () => {
      for (let round = 0; round < rounds; round += 1) exits.push(...(await restartAll(testBed)));
      over.abort();
    });

    const examination = await examine(testBed, runs);
    const facts = examination.runs.flatMap((run) => run.facts);
    const exit = findSpread(exits);
    return toFindings(testBed, examination, {
      size: `${rounds} restarts of ${exits.length / rounds} instances, ${live} runs live at any time`,
      details: [...examination.details, ...examination.runs.flatMap((run) => repetitions(testBed, run)).slice(0, 10)],
      times: { 'from SIGTERM to the exit': exit },
      bars: [
        never('iterations begun again', count(facts, 'iteration.restarted')),
        never('model calls tried again', count(facts, 'model.retried')),
        never(
          'tool calls tried again',
          facts.filter(({ type, data }) => type === 'tool.started' && data.attempt > 1).length,
        ),
        never('tool calls unknown', count(facts, 'tool.unknown')),
        within('the slowest exit', exit?.max, drainLimitMs),
      ],
    });
  },
};

async function restartAll(testBed: TestBed): Promise<number[]> {
  const exits: number[] = [];
  for (const instance of testBed.rondo.services.all.filter(({ name }) => name !== 'demo-model')) {
    const since = performance.now();
    testBed.faults.note('SIGTERM', instance.name);
    testBed.progress.faults += 1;
    await instance.stop();
    exits.push(performance.now() - since);
    await instance.start();
  }
  return exits;
}

const repetitions = (testBed: TestBed, { id, facts }: ExaminedRun): string[] =>
  facts
    .filter(({ type }) => ['iteration.restarted', 'model.retried', 'tool.unknown'].includes(type))
    .map(({ type, seq, at }) => `${id}: ${type} (seq ${seq}) ${testBed.faults.before(Date.parse(at))}`);

const count = (facts: readonly Fact[], type: string): number => facts.filter((fact) => fact.type === type).length;
