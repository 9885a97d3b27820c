/**
 * Searches for a schedule of runs and faults under which the core breaks an invariant, reduces the first one found to
 * its smallest form, and prints it with the seed that reproduces it.
 */
import { parseArgs } from 'node:util';
import { type SearchReport, checkSchedules, describeFailure } from './check-schedules';

const help = `npm run simulate -- [--schedules N] [--seed S]   N worlds (1000), from the given seed or a new one
npm run simulate -- --seed S --path P          one world again, as a failure was printed`;

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    path: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const print = (text: string): boolean => process.stdout.write(`${text}\n`);

async function simulate(): Promise<void> {
  const schedules = values.path === undefined ? Number(values.schedules) : 1;
  const seed = Number(values.seed);
  print(`Simulating ${schedules} schedules, seed ${seed}.`);

  const before = process.cpuUsage();
  const report = await checkSchedules({ schedules, seed, path: values.path });
  const { user, system } = process.cpuUsage(before);
  print(report.failure ? describeFailure(report.failure) : summary(report, (user + system) / 1e6));
  process.exitCode = report.failure ? 1 : 0;
}

function summary({ searched, figures, ends }: SearchReport, cpuSeconds: number): string {
  const { steps, virtualMs, faultsStruck, refusedWrites, modelCalls, effects } = figures;
  return [
    `${searched} worlds kept every invariant in ${cpuSeconds.toFixed(1)} s of CPU: ${(searched / cpuSeconds).toFixed(0)} a second.`,
    `They simulated ${(virtualMs / 3_600_000).toFixed(1)} hours, ${steps} steps, ${faultsStruck} faults,`,
    `${modelCalls} model calls, ${effects} effects, ${refusedWrites} refused writes.`,
    `Runs ended: ${Object.entries(ends)
      .toSorted(([, a], [, b]) => b - a)
      .map(([end, count]) => `${end} ${count}`)
      .join(', ')}.`,
  ].join('\n');
}

if (values.help) print(help);
else void simulate();
