import { build } from './services/build.mjs';
import { installPackages, requireNode } from './install/install.mjs';
import { step, terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';

/** `node run-app.mjs <app> …` installs and builds what has changed, then runs that app's command in this process. */
requireNode();
await installPackages(repoRoot, log);
await step(log, 'build', { work: () => build(repoRoot), detail: (changed) => (changed ? '' : 'nothing has changed') });
const [app] = process.argv.splice(2, 1);
await import(`../../apps/${app}/dist/main.js`);
