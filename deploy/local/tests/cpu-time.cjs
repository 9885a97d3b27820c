const { existsSync, readFileSync } = require('node:fs');

const ownStat = '/proc/self/stat';

/** Of Linux, on all of today's processors. */
const ticksPerSecond = 100;

/**
 * How much of a processor this process has used, and with it each program that it has started, once that has ended, with all that
 * the program started. Elsewhere than on Linux, only itself.
 */
exports.readCpuMs = function readCpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + readChildrenMs();
};

function readChildrenMs() {
  if (!existsSync(ownStat)) return 0;
  const stat = readFileSync(ownStat, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2) // the name before it may have spaces
    .split(' ')
    .slice(13, 15);
  return ((Number(user) + Number(system)) / ticksPerSecond) * 1_000;
}
