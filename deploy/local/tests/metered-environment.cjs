const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const { TestEnvironment } = require('jest-environment-node');
const { readCpuMs } = require('./cpu-time.cjs');

/**
 * The usual environment of specs, which also records how much of a processor a file of specs has used with all that it started,
 * in the file that SPEC_TIMES_FILE names. Waiting costs nothing here, so unlike its duration this hardly depends on what else runs.
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
