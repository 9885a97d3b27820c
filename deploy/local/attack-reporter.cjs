const { appendFileSync } = require('node:fs');

/**
 * A jest reporter that records the outcome of every attack, which is each test below a `describe('attack: <surface>')`. A test
 * that was skipped, because this machine lacks root or loop devices, counts as not tried. Writes one line of JSON per attack
 * to the file that ATTACKS_FILE names, so that several jest runs produce one list.
 */
module.exports = class AttackReporter {
  onTestResult(_test, { testResults }) {
    const file = process.env.ATTACKS_FILE;
    const attacks = testResults.filter(({ ancestorTitles: [first = ''] }) => first.startsWith('attack: '));
    const lines = attacks.map(({ ancestorTitles, title, status }) => {
      const surface = ancestorTitles[0].replace('attack: ', '');
      const attack = [...ancestorTitles.slice(1), title].join(' › ');
      return `${JSON.stringify({ surface, attack, tried: status !== 'pending', blocked: status === 'passed' })}\n`;
    });
    if (file && lines.length > 0) appendFileSync(file, lines.join(''));
  }
};
