import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { runCommand } from './command.mjs';
import { installPackages, requireNode } from './install/install.mjs';
import { reachableDirectory } from './processes/data-directory.mjs';
import { step, terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { newerPrograms, newerReleases } from './servers/newer-programs.mjs';

const releases = Object.keys(newerReleases);
const usual = 'libs/(persistence|messaging)/|gateway/src/live/|small-campaign';
const help = `npm run newer-servers                    the tests of what speaks to Postgres, PgBouncer, Redis and NATS, and the small campaign of faults,
                                         with the servers of these releases of Debian one after the other: ${releases.join(', ')}
npm run newer-servers -- --only <name>   with those of one of them
npm run newer-servers -- <pattern>       other tests: those whose path matches the pattern

Linux on x86-64, as root. The packages are unpacked below .data (1 GB for each release; delete the folder to be rid of them); nothing is installed
but mmdebstrap. About five minutes for each release, and half a one before the first time.`;

const only = process.argv.indexOf('--only');
const chosen = only < 0 ? releases : releases.filter((release) => release === process.argv[only + 1]);
const pattern = process.argv.slice(2).find((one, index, all) => !one.startsWith('--') && all[index - 1] !== '--only');

if (process.argv.includes('--help') || chosen.length === 0) console.log(help);
else await runCommand(main, { log, codeWhenInterrupted: 130 });

/** The exit code is 0 when the tests passed with all of them. */
async function main() {
  requireNode();
  await installPackages(repoRoot, log);
  const directory = reachableDirectory(join(repoRoot, '.data'), 'newer-servers');
  const failed = [];
  for (const release of chosen) {
    const { path } = await step(log, release, {
      work: () => newerPrograms(release, directory),
      detail: ({ versions }) => versions.join(', '),
    });
    const env = { ...process.env, PATH: `${path}:${process.env.PATH}` };
    const child = spawn(process.execPath, [join(import.meta.dirname, 'test.mjs'), pattern ?? usual], {
      env,
      stdio: 'inherit',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) failed.push(release);
  }
  if (failed.length > 0) log.note(`\nFailed with the servers of ${failed.join(' and ')}.`);
  return failed.length === 0 ? 0 : 1;
}
