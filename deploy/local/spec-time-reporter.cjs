const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');

/**
 * A jest reporter that records when each spec file begins, and its duration and its failed tests when it ends, one line
 * of JSON each, in the file that SPEC_TIMES_FILE names.
 */
module.exports = class SpecTimeReporter {
  onTestFileStart({ path }) {
    record({ spec: relative(process.cwd(), path) });
  }

  onTestResult({ path }, { perfStats, testResults, testExecError }) {
    const failed = testResults.filter(({ status }) => status === 'failed');
    const failures = failed.map(
      ({ fullName, failureMessages: [message = ''] }) => `${fullName}: ${shortened(message)}`,
    );
    if (testExecError) failures.push(shortened(String(testExecError.message ?? testExecError)));
    record({ spec: relative(process.cwd(), path), ms: perfStats.runtime, failures });
  }
};

/** The first line of an error, and the first line of a spec or source file in its stack. */
function shortened(message) {
  const [first = ''] = message.split('\n').filter((line) => line.trim() !== '');
  const [, where] = /\n\s+at (?:.*\()?((?!.*node_modules)[^()\n]+:\d+:\d+)\)?/.exec(message) ?? [];
  return where === undefined ? first.trim() : `${first.trim()} (${relative(process.cwd(), where)})`;
}

function record(line) {
  const file = process.env.SPEC_TIMES_FILE;
  if (file) appendFileSync(file, `${JSON.stringify(line)}\n`);
}
