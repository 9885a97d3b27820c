import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build, nx, projectsOf } from './build.mjs';
import { terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { run } from './run-program.mjs';

const bin = (name) => join(repoRoot, 'node_modules/.bin', name);

/** Steps that each pass or fail; all are run, so that one look shows everything that is wrong. */
export class Verification {
  #failed = [];

  /** One line when the step passes; everything that it printed when it fails. */
  async step(name, work) {
    const since = performance.now();
    try {
      const output = await work();
      log.done({ name, ms: performance.now() - since, detail: summaryOf(output) });
      return true;
    } catch (error) {
      log.note(`\n${[error.stdout, error.stderr].filter(Boolean).join('\n') || error.message}`);
      log.failed({ name, ms: performance.now() - since, detail: 'failed; its output is above' });
      this.#failed.push(name);
      return false;
    }
  }

  /** The exit code. */
  conclude() {
    log.note(this.#failed.length === 0 ? '\nAll passed.' : `\nFailed: ${this.#failed.join(', ')}.`);
    return this.#failed.length === 0 ? 0 : 1;
  }
}

export const checks = {
  build: () => build(repoRoot),
  format: () => run(bin('prettier'), ['--check', '.'], { cwd: repoRoot }),
  types: () => nx(repoRoot, 'typecheck'),
  lint: async () => {
    await nx(repoRoot, 'lint');
    return run(bin('eslint'), ['**/*.mjs', '**/*.cjs', '--max-warnings', '0'], { cwd: repoRoot }); // of no project
  },
};

/** Runs jest once over these projects (directories such as `libs/domain`). */
export function jest(projects, { env = {}, args = [] } = {}) {
  const options = ['--projects', ...projects, '--passWithNoTests', ...args];
  return run(bin('jest'), options, { cwd: repoRoot, env: { ...process.env, FORCE_COLOR: '0', ...env } });
}

export function jestProjects() {
  return projectsOf(repoRoot)
    .filter((project) => existsSync(join(project, 'jest.config.cjs')))
    .map((project) => relative(repoRoot, project));
}

function summaryOf(output) {
  const lines = `${output?.stdout ?? ''}\n${output?.stderr ?? ''}`.split('\n');
  return lines.find((line) => line.startsWith('Tests:'))?.replace(/^Tests:\s+/, '') ?? '';
}
