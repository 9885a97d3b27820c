const { appendFileSync } = require('node:fs');
const { ungroup } = require('./ungroup.cjs');

/**
 * A jest reporter that records the outcome of every attack, which is each test below a `describe('attack: <surface>')`. A test
 * that was skipped, because this machine lacks root or loop devices, counts as not tried. Writes one line of JSON per attack
 * to the file that ATTACKS_FILE names, so that several jest runs produce one list.
 */
module.exports = class AttackReporter {
  onTestResult(_test, { testResults }) {
    const file = process.env.ATTACKS_FILE;
    const tests = testResults.map((test) => ({ ...test, titles: ungroup(test.ancestorTitles).titles }));
    const attacks = tests.filter(({ titles: [first = ''] }) => first.startsWith('attack: '));
    const lines = attacks.map(({ titles: [first, ...others], title, status }) => {
      const surface = first.replace('attack: ', '');
      const attack = [...others, title].join(' › ');
      return `${JSON.stringify({ surface, attack, tried: status !== 'pending', blocked: status === 'passed' })}\n`;
    });
    if (file && lines.length > 0) appendFileSync(file, lines.join(''));
  }
};
