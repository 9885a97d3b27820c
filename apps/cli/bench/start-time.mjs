/** How long `rondo help` takes beside `node -e 0` in the same rounds; needs a build. Prints medians. */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const rounds = 31;
const program = fileURLToPath(new URL('../bin/rondo.mjs', import.meta.url));

const times = { node: [], rondo: [] };
for (let round = 0; round < rounds; round += 1) {
  times.node.push(measureTime(['-e', '0']));
  times.rondo.push(measureTime([program, 'help']));
}
const node = toMedian(times.node);
const rondo = toMedian(times.rondo);
console.log(
  `rondo help: ${rondo.toFixed(0)} ms beside ${node.toFixed(0)} ms of Node alone, x${(rondo / node).toFixed(2)} (goal: at most 150 ms more)`,
);

function measureTime(words) {
  const since = performance.now();
  spawnSync(process.execPath, words);
  return performance.now() - since;
}

function toMedian(values) {
  return values.toSorted((a, b) => a - b)[(values.length - 1) / 2];
}
