/**
 * Looks for a schedule of runs and faults under which the core breaks a promise; needs a build. Whatever it finds, it
 * makes small and prints with the seed that brings it back.
 */
import { createRequire } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const help = `npm run simulate -- [--schedules N] [--seed S]   N worlds (1000), from a seed of your own or a new one
npm run simulate -- --seed S --path P          one world again, as a failure was printed`;

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    path: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(help);
else await simulate();

async function simulate() {
  const dist = fileURLToPath(new URL('../dist', import.meta.url));
  const { checkSchedules, storyOf } = createRequire(import.meta.url)(`${dist}/testing/simulation/check-schedules.js`);
  const schedules = values.path === undefined ? Number(values.schedules) : 1;
  const seed = Number(values.seed);
  console.log(`Simulating ${schedules} schedules, seed ${seed}.`);

  const before = process.cpuUsage();
  const found = await checkSchedules({ schedules, seed, path: values.path });
  const { user, system } = process.cpuUsage(before);
  if (found.failure) console.log(storyOf(found.failure));
  else console.log(summary(found, (user + system) / 1e6));
  process.exitCode = found.failure ? 1 : 0;
}

function summary({ searched, figures, ends }, cpuSeconds) {
  const { happenings, virtualMs, faultsStruck, refusedWrites, modelCalls, effects } = figures;
  return [
    `${searched} worlds held in ${cpuSeconds.toFixed(1)} s of CPU: ${(searched / cpuSeconds).toFixed(0)} a second.`,
    `${(virtualMs / 3_600_000).toFixed(1)} hours went by in them, ${happenings} things happened, ${faultsStruck} faults struck,`,
    `${modelCalls} calls of a model, ${effects} effects, ${refusedWrites} writes refused.`,
    `Runs ended: ${Object.entries(ends)
      .toSorted(([, a], [, b]) => b - a)
      .map(([end, count]) => `${end} ${count}`)
      .join(', ')}.`,
  ].join('\n');
}
