import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';
import { runCommand } from '../../../deploy/local/command.mjs';
import { terminal as log } from '../../../deploy/local/progress.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { type CampaignRequest, type ProgressReporter, runCampaign } from './campaign';
import type { Experiment } from './experiment';
import { experiments } from './experiments/all-experiments';
import { renderScorecard } from './scorecard/render-scorecard';
import { type Machine, type Scorecard, allMet, renew } from './scorecard/scorecard';
import type { Scale } from './test-bed/test-bed';

const thisMachine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memory_gib: Math.round(totalmem() / 2 ** 30),
  node: process.versions.node,
  os: `${type()} ${release()}`,
});

/** The commit that was measured, with `+` when the work tree has uncommitted changes. */
function toCommit(directory: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', 'apps', 'libs') === '' ? '' : '+');
  } catch {
    return 'unknown'; // not a git repository
  }
}

const everyMs = 10_000;

/** One line per experiment, updated while it runs; without a terminal, a new line every ten seconds. */
function terminalProgress(terminal: NodeJS.WriteStream): ProgressReporter {
  let lastAt = 0;
  const write = (text: string) => terminal.write(terminal.isTTY ? `\r\u001b[2K${text}` : text);
  return {
    progress(name, { started, ended, faults }) {
      if (!terminal.isTTY && Date.now() - lastAt < everyMs) return;
      lastAt = Date.now();
      write(`  … ${name.padEnd(10)} ${ended} of ${started} runs ended, ${faults} faults${terminal.isTTY ? '' : '\n'}`);
    },
    done({ name, seconds, findings, error }, missed) {
      const outcome = missed.length === 0 ? 'all bars met' : `missed: ${missed.join(', ')}`;
      write(`  ${missed.length === 0 ? '✓' : 'x'} ${name.padEnd(10)} ${seconds.toFixed(1)} s  ${outcome}\n`);
      for (const detail of [...(error === undefined ? [] : [error]), ...(findings?.details ?? [])])
        terminal.write(`      ${detail}\n`);
    },
  };
}

const usage = `npm run chaos                        every experiment at its full size, with production's leases
npm run chaos -- --only kills,stop   some of them
npm run chaos -- --small             fewer runs, shorter faults, leases of 3 s: for correctness; the times mean little
npm run chaos -- --only mixed --minutes 10   for how long faults are injected, where the size is a time
npm run chaos -- --only upgrade --from <commit>   another version than the last release beside this one
npm run chaos -- --out <directory>   the directory for SCORECARD.md and scorecard.json, which keep what other experiments have found: docs
                                     for a whole full campaign, else .data/chaos`;

interface Options {
  readonly help: boolean;
  readonly scale: Scale['name'];
  /** All experiments when absent. */
  readonly only: readonly string[] | undefined;
  /** Replaces the time of experiments whose size is a time. */
  readonly minutes: number | undefined;
  /** The commit whose services run beside those of this checkout; the last release when absent. */
  readonly from: string | undefined;
  readonly out: string;
}

/** Throws on unknown arguments. */
function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      small: { type: 'boolean', default: false },
      only: { type: 'string' },
      minutes: { type: 'string' },
      from: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const isWhole = !values.small && values.only === undefined;
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined && !(minutes > 0)) throw new Error('--minutes must be a number above 0.');
  return {
    help: values.help,
    scale: values.small ? 'small' : 'full',
    only: values.only?.split(','),
    minutes,
    from: values.from,
    out: values.out ?? (isWhole ? 'docs' : '.data/chaos'),
  };
}

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
  const results = await runCampaign(chooseExperiments(options), {
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

function chooseExperiments({ only }: Options): Experiment[] {
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
