const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');

/**
 * A jest reporter that records when each spec file begins, and its duration when it ends, one line of JSON each, in the
 * file that SPEC_TIMES_FILE names.
 */
module.exports = class SpecTimeReporter {
  onTestFileStart({ path }) {
    record({ spec: relative(process.cwd(), path) });
  }

  onTestResult({ path }, { perfStats }) {
    record({ spec: relative(process.cwd(), path), ms: perfStats.runtime });
  }
};

function record(line) {
  const file = process.env.SPEC_TIMES_FILE;
  if (file) appendFileSync(file, `${JSON.stringify(line)}\n`);
}
