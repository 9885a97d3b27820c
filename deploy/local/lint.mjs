import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import tseslint from 'typescript-eslint';
import rondo from '../../eslint.config.mjs';
import { repoRoot } from './repo-root.mjs';
import { run } from './run-program.mjs';

const prefix = '@typescript-eslint/';
const configurationFile = join(repoRoot, '.data/cache/oxlint.json');
const bin = (name) => join(repoRoot, 'node_modules/.bin', name);

/** oxlint does not have these. The first is off in eslint.config.mjs, the second is about enums, and there are none here. */
const absent = ['no-unsafe-class-instance-assignment', 'no-unsafe-enum-assignment'].map((name) => prefix + name);

const needsTypes = (name) =>
  name.startsWith(prefix) && tseslint.plugin.rules[name.slice(prefix.length)].meta.docs.requiresTypeChecking === true;

/**
 * Applies the rules of eslint.config.mjs by two programs at once: oxlint those that need types, whose compiler takes a quarter
 * of the time and memory that ESLint needs for them, and ESLint all others (decision 163). It rejects with what they
 * print.
 */
export async function lintAll() {
  mkdirSync(dirname(configurationFile), { recursive: true });
  writeFileSync(configurationFile, JSON.stringify(oxlintConfiguration(rondo), null, 2));
  const untyped = ['--config', join(repoRoot, 'deploy/local/eslint-without-types.mjs'), '--max-warnings', '0'];
  const ignored = rondo.flatMap(({ files, rules, ignores = [] }) => (files || rules ? [] : ignores));
  const results = await Promise.allSettled([
    run(bin('eslint'), ['.', ...untyped], { cwd: repoRoot }),
    run(
      bin('oxlint'),
      [
        '-c',
        configurationFile,
        '--type-aware',
        ...ignored.flatMap((pattern) => ['--ignore-pattern', pattern]),
        'apps',
        'libs',
      ],
      { cwd: repoRoot },
    ),
  ]);
  const failures = results.filter(({ status }) => status === 'rejected').map(({ reason }) => reason);
  if (failures.length === 0) return;
  const [stdout, stderr] = ['stdout', 'stderr'].map((stream) =>
    failures.map((error) => error[stream] ?? '').join('\n'),
  );
  throw Object.assign(new Error(failures.map(({ message }) => message).join('\n')), { stdout, stderr });
}

/** What oxlint reads: the rules of a configuration of ESLint that need types, for the same files. */
function oxlintConfiguration(blocks) {
  const overrides = blocks.flatMap(({ files, ignores, rules = {} }) => {
    const typed = Object.entries(rules).filter(([name]) => needsTypes(name) && !absent.includes(name));
    if (typed.length === 0) return [];
    if (!files || ignores)
      throw new Error('oxlint can apply a rule that needs types only to files without exceptions.');
    const renamed = typed.map(([name, value]) => [name.replace(prefix, 'typescript/'), value]);
    return [{ files: files.map((file) => join(repoRoot, file)), rules: Object.fromEntries(renamed) }];
  });
  return { plugins: ['typescript'], categories: { correctness: 'off' }, overrides };
}
