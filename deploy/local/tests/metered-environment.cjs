const { appendFileSync, existsSync, readFileSync } = require('node:fs');
const { relative } = require('node:path');
const { TestEnvironment } = require('jest-environment-node');

const ownStat = '/proc/self/stat';
const ticksPerSecond = 100; // on each Linux of today

/**
 * The usual environment of specs, which also records how much of a processor a file of specs has used, in the file that
 * SPEC_TIMES_FILE names. Waiting costs nothing here, so unlike its duration this hardly depends on what else runs.
 */
module.exports = class MeteredEnvironment extends TestEnvironment {
  #file;
  #before;

  constructor(configuration, context) {
    super(configuration, context);
    this.#file = relative(process.cwd(), context.testPath);
    this.#before = readCpuMs();
  }

  async teardown() {
    await super.teardown();
    const record = { file: this.#file, cpuMs: Math.round(readCpuMs() - this.#before) };
    if (process.env.SPEC_TIMES_FILE) appendFileSync(process.env.SPEC_TIMES_FILE, `${JSON.stringify(record)}\n`);
  }
};

/**
 * Of this process and of all that it started and that has ended, on Linux. What outlives the process that started it is missing:
 * much of a browser and of sandboxes.
 */
function readCpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + (existsSync(ownStat) ? readChildrenMs() : 0);
}

function readChildrenMs() {
  const stat = readFileSync(ownStat, 'utf8');
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name may have spaces
  const [user, system] = afterName.slice(13, 15);
  return ((Number(user) + Number(system)) / ticksPerSecond) * 1_000;
}
