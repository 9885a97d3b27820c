import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runCommand } from '../../../deploy/local/command.mjs';
import { terminal as log } from '../../../deploy/local/progress.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { type CampaignRequest, runCampaign } from './campaign';
import type { Experiment } from './experiment';
import { experiments } from './experiments/all-experiments';
import { type Options, readOptions, usage } from './options';
import { toCommit, thisMachine } from './scorecard/measured-machine';
import { renderScorecard } from './scorecard/render-scorecard';
import { type Scorecard, allMet, renew } from './scorecard/scorecard';
import { terminalProgress } from './terminal-progress';

const args = process.argv.slice(2);
const [data, page] = ['scorecard.json', 'SCORECARD.md'] as const;

void runCommand(chaos, { log, codeWhenInterrupted: 130 });

/** The exit code is 0 when every bar was met. */
async function chaos({ owns }: { owns: NonNullable<CampaignRequest['owns']> }): Promise<number> {
  const options = readOptions(args);
  if (options.help) {
    log.note(usage);
    return 0;
  }
  const measured = { commit: toCommit(repoRoot), machine: thisMachine() };
  const { scale } = options;
  const directory = resolve(repoRoot, options.out);
  const terminal = terminalProgress(process.stdout);
  const results = await runCampaign(chosen(options), {
    scale,
    ...(options.minutes !== undefined && { minutes: options.minutes }),
    ...(options.from !== undefined && { from: options.from }),
    reporter: {
      ...terminal,
      done(result, missed) {
        terminal.done(result, missed);
        save({ scale, results: [{ ...result, date: new Date().toISOString(), ...measured }] }, directory);
      },
    },
    logsIn: join(repoRoot, '.data/chaos/logs'),
    owns,
  });
  log.note(`\nThe scorecard is in ${join(directory, page)}.`);
  return allMet(results) ? 0 : 1;
}

function chosen({ only }: Options): Experiment[] {
  const unknown = (only ?? []).filter((name) => !experiments.some((experiment) => experiment.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `No experiment is named ${unknown.join(', ')}. There are: ${experiments.map(({ name }) => name).join(', ')}.`,
    );
  }
  return experiments.filter(({ name }) => !only || only.includes(name));
}

/** Beside the experiments that the directory has from before, after each one: an interrupted campaign keeps what it has found. */
function save(card: Scorecard, directory: string): void {
  const file = join(directory, data);
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Scorecard) : undefined; // written here
  const all = renew(
    before,
    card,
    experiments.map(({ name }) => name),
  );
  mkdirSync(directory, { recursive: true });
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(join(directory, page), renderScorecard(all));
}
