const { appendFileSync } = require('node:fs');

/**
 * A jest reporter that notes the outcome of every attack: of each test below a `describe('attack: <surface>')`, also where it
 * was skipped because this machine lacks what it takes (root, loop devices): it was not tried, then. One line of
 * JSON each, in the file that ATTACKS_FILE names, so that several jest runs make one list.
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
