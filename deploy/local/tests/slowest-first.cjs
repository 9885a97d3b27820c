const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The spec files that take longest, each alone in its file, the longest first. Started last, one of them would run alone at
 * the end, while the other worker has nothing to do. `npm test -- --times` shows how long each takes.
 */
const slowest = [
  'apps/tool-executor/src/sandboxes/host/workspaces/workspace-archives.spec.ts',
  'apps/tool-executor/src/hosting/lost-executors.spec.ts',
  'apps/tool-executor/src/tools/browser/browser.attacks.spec.ts',
  'apps/e2e/src/strict-providers.e2e-spec.ts',
  'apps/simulation/src/simulation.spec.ts',
  'apps/e2e/src/image-contents.e2e-spec.ts',
  'apps/tool-executor/src/mcp/generations.spec.ts',
  'apps/tool-executor/src/sandboxes/host/prepared-sandboxes.spec.ts',
  'apps/tool-executor/src/sandboxes/daytona/daytona-provider.contract.spec.ts',
  'apps/e2e/src/tracing.e2e-spec.ts',
  'apps/e2e/src/takeover.e2e-spec.ts',
  'apps/simulation/src/flawed-worlds.spec.ts',
  'apps/e2e/src/backup.e2e-spec.ts',
  'apps/e2e/src/cli-operator.e2e-spec.ts',
  'libs/client/src/run-stream.spec.ts',
];

/**
 * Begins with the slowest specs also on a machine that has no times of earlier runs, where jest goes by the size of files. The
 * small files of `spec-groups.mjs`, each with many specs, are next, but those with a deployment take longer than any spec.
 */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const ranks = new Map(tests.map((test) => [test, toRank(test)]));
    return super.sort(tests).sort((a, b) => ranks.get(a) - ranks.get(b));
  }
};

function toRank({ path }) {
  if (path.includes('/spec-groups/e2e/')) return -1;
  const place = slowest.findIndex((spec) => path.endsWith(`/${spec}`));
  if (place >= 0) return place;
  return slowest.length + (path.includes('/spec-groups/') ? 0 : 1);
}

module.exports.slowest = slowest;
