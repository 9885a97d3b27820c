import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../repo-root.mjs';

const document = join(repoRoot, 'docs/attacks.md');
const [begin, end] = ['<!-- `npm run attacks` writes from here … -->', '<!-- … to here -->'];

/** The attacks that the tests tried, recorded by `attack-reporter.cjs` while jest runs with `jestArguments`. */
export class AttackList {
  #file;

  /** Begins an empty list in this directory. */
  constructor(directory) {
    this.#file = join(directory, 'attacks.jsonl');
    rmSync(this.#file, { force: true });
  }

  get environment() {
    return { ATTACKS_FILE: this.#file };
  }

  get jestArguments() {
    return ['--reporters', join(repoRoot, 'deploy/local/tests/attack-reporter.cjs')];
  }

  /** One line per surface: how many attacks were tried and how many blocked. Throws if one succeeded or none was tried. */
  summary() {
    const surfaces = Object.entries(this.#bySurface());
    const lines = surfaces.map(([surface, attacks]) => {
      const [tried, blocked] = [attacks.filter((attack) => attack.tried), attacks.filter((attack) => attack.blocked)];
      const counts = `${String(tried.length).padStart(3)} tried, ${String(blocked.length).padStart(3)} blocked`;
      return `    ${surface.padEnd(44)} ${counts}`;
    });
    const all = surfaces.flatMap(([, attacks]) => attacks);
    const through = all.filter((attack) => attack.tried && !attack.blocked);
    lines.push(
      ...all.filter((attack) => !attack.tried).map(({ attack }) => `    NOT TRIED on this machine: ${attack}`),
    );
    if (lines.length === 0) throw new Error('No attack was tried.');
    if (through.length > 0)
      throw new Error([...lines, ...through.map(({ attack }) => `not blocked: ${attack}`)].join('\n'));
    return lines.join('\n');
  }

  /** Throws if the document differs from what was tried. Attacks that this machine cannot try are not compared. */
  compareWithDocument() {
    if (readFileSync(document, 'utf8') !== this.#documented('blocked')) {
      throw new Error('docs/attacks.md lists other attacks than were tried: npm run attacks');
    }
  }

  writeDocument() {
    writeFileSync(document, this.#documented('not tried'));
  }

  #documented(notTried) {
    const text = readFileSync(document, 'utf8');
    const [before, after] = [text.slice(0, text.indexOf(begin)), text.slice(text.indexOf(end))];
    const rows = Object.entries(this.#bySurface()).flatMap(([surface, attacks]) =>
      attacks.map(
        ({ attack, tried, blocked }) =>
          `| ${surface} | ${attack.replaceAll('|', '\\|')} | ${toResult({ tried, blocked }, notTried)} |`,
      ),
    );
    return `${before}${begin}\n\n| surface | attack | result |\n|---|---|---|\n${rows.join('\n')}\n\n${after}`;
  }

  /** Sorted, so that the result does not depend on the order of the tests. Of an attack that was tried again, the last result. */
  #bySurface() {
    const lines = existsSync(this.#file) ? readFileSync(this.#file, 'utf8').trim().split('\n') : [];
    const last = new Map(lines.map((line) => JSON.parse(line)).map((attack) => [toKey(attack), attack]));
    const attacks = [...last.values()].sort((a, b) => order(a, b));
    const surfaces = [...new Set(attacks.map(({ surface }) => surface))];
    return Object.fromEntries(surfaces.map((name) => [name, attacks.filter(({ surface }) => surface === name)]));
  }
}

function toResult({ tried, blocked }, notTried) {
  if (!tried) return notTried;
  return blocked ? 'blocked' : '**got through**';
}

const order = (a, b) => (toKey(a) < toKey(b) ? -1 : 1);
const toKey = ({ surface, attack }) => `${surface}\n${attack}`;
