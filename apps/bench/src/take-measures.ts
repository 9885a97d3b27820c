import { join } from 'node:path';
import type { Bench } from './bench';
import type { BenchOptions } from './config';
import { comparisons, counts, trials } from './measures/all-measures';
import type { Comparison, Figure, ModelProcess, Needs, Trial } from './measures/measure';
import { Profiling, cpuProfiles, traces } from './profile/profiling';
import { type Taken, toTaken } from './report/outcome';
import { type Round, compare, warmUp } from './rounds';

interface Outcome {
  readonly taken: readonly Taken[];
  /** A readable report of the CPU profiles or traces. */
  readonly profiles: string | undefined;
}

/** Receives each step when it begins, because some take minutes, and when it is done. */
export interface Progress {
  note(text: string): void;
  done(step: { name: string; ms: number }): void;
}

/** Takes the requested measures: first the comparisons, on one deployment, then each trial on a deployment of its own. */
export async function takeMeasures(bench: Bench, options: BenchOptions, progress: Progress): Promise<Outcome> {
  const taken: Taken[] = [];
  const step = reportTo(progress);
  const take = async (measure: { name: string; figures: readonly Figure[] }, work: () => Promise<Round[]>) => {
    taken.push(toTaken(measure, await step(measure.name, work)));
  };
  const isAsked = ({ name }: { name: string }) => options.only.includes(name);
  for (const count of counts.filter(isAsked))
    await take(count, async () => [{ rondo: await count.run(options.scale) }]);
  const compared = comparisons.filter(isAsked);
  const tried = trials.filter(isAsked);
  if (compared.length + tried.length === 0) return { taken, profiles: undefined };
  const session = { bench, model: await bench.startModel(), options, take, step };
  const profiles = compared.length > 0 ? await takeCompared(session, compared) : undefined;
  for (const trial of tried) await take(trial, () => runTrial(session, trial));
  return { taken, profiles };
}

type Step = <T>(name: string, work: () => Promise<T>) => Promise<T>;

const reportTo =
  (progress: Progress): Step =>
  async (name, work) => {
    progress.note(`  … ${name}`);
    const since = performance.now();
    const result = await work();
    progress.done({ name, ms: performance.now() - since });
    return result;
  };

interface Session {
  readonly bench: Bench;
  readonly model: ModelProcess;
  readonly options: BenchOptions;
  readonly step: Step;
  readonly take: (measure: { name: string; figures: readonly Figure[] }, work: () => Promise<Round[]>) => Promise<void>;
}

async function takeCompared(
  { bench, model, options, take, step }: Session,
  compared: readonly Comparison[],
): Promise<string | undefined> {
  const recording = options.trace ? traces : options.profile ? cpuProfiles : undefined;
  const profiling = recording && new Profiling(options.profiles, recording);
  const bare = await bench.startBare(model.url);
  const tracing = options.tracing === undefined ? {} : { everywhere: await bench.startTracing(options.tracing) };
  const needs = together([tracing, profiling?.needs ?? {}, setFlags(options.v8)]);
  const rondo = await step('start of Rondo', () =>
    bench.startRondo({ modelUrl: model.url, leases: options.scale.leases, ...needs }),
  );
  const context = { model, scale: options.scale };
  for (const system of [bare, rondo]) {
    const name = `warm-up of ${system.name}, ${options.scale.warmUpSeconds} s`;
    await step(name, () => warmUp(system, context));
  }

  profiling?.begin(rondo);
  for (const comparison of compared) await take(comparison, () => compare(comparison, { rondo, bare }, context));
  const profiles = await profiling?.end(rondo);
  await Promise.all([bare.stop(), rondo.stop()]);
  return profiles;
}

async function runTrial({ bench, model, options }: Session, trial: Trial): Promise<Round[]> {
  const needs = together([trial.needs, setFlags(options.v8)]);
  const rondo = await bench.startRondo({ modelUrl: model.url, leases: options.scale.leases, ...needs });
  const onSystemCore = <T>(work: () => Promise<T>) => bench.onSystemCore(work);
  const found = await trial.run(rondo, { model, scale: options.scale, onSystemCore });
  await rondo.stop();
  return [{ rondo: found }];
}

const setFlags = (flags: readonly string[]): Needs =>
  flags.length === 0
    ? {}
    : { preloaded: [join(__dirname, 'inside/v8-flags.js')], everywhere: { BENCH_V8_FLAGS: flags.join(' ') } };

const together = (needs: readonly Needs[]): Needs => ({
  preloaded: needs.flatMap(({ preloaded = [] }) => preloaded),
  everywhere: Object.assign({}, ...needs.map(({ everywhere }) => everywhere)) as NonNullable<Needs['everywhere']>,
  worker: Object.assign({}, ...needs.map(({ worker }) => worker)) as NonNullable<Needs['worker']>,
});
