const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');

/** A jest reporter that records the duration of each spec file, one line of JSON each, in the file that SPEC_TIMES_FILE names. */
module.exports = class SpecTimeReporter {
  onTestResult({ path }, { perfStats }) {
    const file = process.env.SPEC_TIMES_FILE;
    const time = { spec: relative(process.cwd(), path), ms: perfStats.runtime };
    if (file) appendFileSync(file, `${JSON.stringify(time)}\n`);
  }
};
