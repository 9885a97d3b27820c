import type { Fact } from '@rondo/test-deployment';
import { type Experiment, findingsOf } from '../experiment';
import { never, within } from '../scorecard/findings';
import { spreadOf } from '../scorecard/spread';
import { type ExaminedRun, examine } from '../stage/examine';
import { runThrough } from '../stage/run-through';
import { whileLasting } from '../stage/run-work';
import type { Stage } from '../stage/stage';
import { stepsOfTwo } from '../stage/work';

const sizes = {
  full: { rounds: 5, live: 50, iterations: 10 },
  small: { rounds: 1, live: 6, iterations: 5 },
};

/** Longer than the time that a service gives itself to leave. */
const drainLimitMs = 9_500;

export const rolling: Experiment = {
  name: 'rolling',
  title:
    'Every instance of every service in turn is told to end with SIGTERM, leaves by itself and is started again, under ' +
    'runs that come and go. Nothing may fail, and nothing may be done again because of it: no iteration, no model call, no ' +
    'tool call. (The demo model is not restarted: it stands for a provider.)',

  /** A lease that runs out on a slow machine would look like an attempt that was charged. */
  deployment: () => ({ leases: 'production' }),

  async run(stage, scale) {
    const { rounds, live, iterations } = sizes[scale.name];
    const over = new AbortController();
    const works = whileLasting(over.signal, 'rolling', (tag) => stepsOfTwo(stage.effects, { tag, iterations }));
    const exits: number[] = [];
    const runs = await runThrough(stage, { works, atOnce: live, quietMs: scale.quietMs }, async () => {
      for (let round = 0; round < rounds; round += 1) exits.push(...(await restartAll(stage)));
      over.abort();
    });

    const examination = await examine(stage, runs);
    const facts = examination.runs.flatMap((run) => run.facts);
    const exit = spreadOf(exits);
    return findingsOf(stage, examination, {
      size: `${rounds} restarts of ${exits.length / rounds} instances, ${live} runs live at any time`,
      details: [...examination.details, ...examination.runs.flatMap((run) => repetitions(stage, run)).slice(0, 10)],
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

async function restartAll(stage: Stage): Promise<number[]> {
  const exits: number[] = [];
  for (const instance of stage.rondo.services.all.filter(({ name }) => name !== 'demo-model')) {
    const since = performance.now();
    stage.faults.note('SIGTERM', instance.name);
    stage.tally.faults += 1;
    await instance.stop();
    exits.push(performance.now() - since);
    await instance.start();
  }
  return exits;
}

const repetitions = (stage: Stage, { id, facts }: ExaminedRun): string[] =>
  facts
    .filter(({ type }) => ['iteration.restarted', 'model.retried', 'tool.unknown'].includes(type))
    .map(({ type, seq, at }) => `${id}: ${type} (seq ${seq}) ${stage.faults.before(Date.parse(at))}`);

const count = (facts: readonly Fact[], type: string): number => facts.filter((fact) => fact.type === type).length;
