const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const { ungroup } = require('./ungroup.cjs');

/**
 * A jest reporter that records when each file begins, when it ends, and of each spec in it the duration and the failed
 * tests, one line of JSON each, in the file that SPEC_TIMES_FILE names. A file is one spec, or a group of them.
 */
module.exports = class SpecTimeReporter {
  onTestFileStart({ path }) {
    record({ began: toName(path) });
  }

  onTestResult({ path }, { perfStats, testResults, testExecError }) {
    const file = toName(path);
    const specs = new Map();
    for (const test of testResults) {
      const { spec = file } = ungroup(test.ancestorTitles);
      specs.set(spec, [...(specs.get(spec) ?? []), test]);
    }
    for (const [spec, tests] of specs) {
      const ms = spec === file ? perfStats.runtime : tests.reduce((sum, { duration }) => sum + (duration ?? 0), 0);
      record({ spec, ms, failures: tests.filter(({ status }) => status === 'failed').map(toFailure) });
    }
    if (testExecError) record({ spec: file, failures: [shortened(String(testExecError.message ?? testExecError))] });
    record({ ended: file });
  }
};

function toFailure({ ancestorTitles, title, failureMessages: [message = ''] }) {
  return `${[...ungroup(ancestorTitles).titles, title].join(' ')}: ${shortened(message)}`;
}

/** The first line of an error, and the first line of a spec or source file in its stack. */
function shortened(message) {
  const [first = ''] = message.split('\n').filter((line) => line.trim() !== '');
  const [, where] = /\n\s+at (?:.*\()?((?!.*node_modules)[^()\n]+:\d+:\d+)\)?/.exec(message) ?? [];
  return where === undefined ? first.trim() : `${first.trim()} (${toName(where)})`;
}

const toName = (path) => relative(process.cwd(), path);

function record(line) {
  const file = process.env.SPEC_TIMES_FILE;
  if (file) appendFileSync(file, `${JSON.stringify(line)}\n`);
}
