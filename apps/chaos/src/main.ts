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

void runCommand(chaos, { log, codeWhenInterrupted: 130 });

/** The exit code is 0 when every bar was met. */
async function chaos({ owns }: { owns: NonNullable<CampaignRequest['owns']> }): Promise<number> {
  const options = readOptions(args);
  if (options.help) {
    log.note(usage);
    return 0;
  }
  const measured = { commit: toCommit(repoRoot), machine: thisMachine() };
  const results = await runCampaign(chosen(options), {
    scale: options.scale,
    ...(options.minutes !== undefined && { minutes: options.minutes }),
    ...(options.from !== undefined && { from: options.from }),
    reporter: terminalProgress(process.stdout),
    logsIn: join(repoRoot, '.data/chaos/logs'),
    owns,
  });
  const date = new Date().toISOString();
  const card: Scorecard = {
    scale: options.scale,
    results: results.map((result) => ({ ...result, date, ...measured })),
  };
  save(card, resolve(repoRoot, options.out));
  return allMet(card) ? 0 : 1;
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

/** Beside the experiments that the directory has from before. */
function save(card: Scorecard, directory: string): void {
  const [data, page] = [join(directory, 'scorecard.json'), join(directory, 'SCORECARD.md')];
  const before = existsSync(data) ? (JSON.parse(readFileSync(data, 'utf8')) as Scorecard) : undefined; // written here
  const all = renew(
    before,
    card,
    experiments.map(({ name }) => name),
  );
  mkdirSync(directory, { recursive: true });
  writeFileSync(data, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(page, renderScorecard(all));
  log.note(`\nThe scorecard is in ${page}.`);
}
