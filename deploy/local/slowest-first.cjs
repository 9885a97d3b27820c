const { default: Sequencer } = require('@jest/test-sequencer');

/** Started last, the simulation would run alone at the end, while the other worker has nothing to do. */
const isSlow = ({ path }) => path.includes('/apps/simulation/');

/** Begins with the slowest specs also on a machine that has no times of earlier runs, where jest goes by the size of files. */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(isSlow), ...sorted.filter((test) => !isSlow(test))];
  }
};
