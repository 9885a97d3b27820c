import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(__dirname, '../../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly keywords: readonly string[];
  readonly repository: { readonly url: string; readonly directory: string };
  readonly dependencies?: Record<string, string>;
}

const packages = ['@rondo/client', '@rondo/react', '@rondo/cli', 'create-rondo-app'];
const toFileName = (name: string) => `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;

/** What TypeScript would find wrong; not that of CommonJS for a Node that cannot require ES modules. */
const resolutionProblems = `
  import { readFileSync } from 'node:fs';
  import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
  const tarball = createPackageFromTarballData(readFileSync(process.argv[1]));
  const { problems = [] } = await checkPackage(tarball, { excludeEntrypoints: ['./styles.css'] });
  console.log(JSON.stringify(problems.filter(({ resolutionKind }) => resolutionKind !== 'node16-cjs')));
`;

describe('the packages, installed in an empty project', () => {
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rondo-packages-'));
    const pack = [join(root, 'deploy/local/packages.mjs'), '--to', folder, '--repository', 'acme/rondo'];
    const { stdout } = await run(process.execPath, pack);
    expect((JSON.parse(stdout) as string[]).toSorted()).toEqual(packages.map(toFileName).toSorted());
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const react = await run('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: join(root, 'node_modules/react'), // the peer of one of them
    });
    const [{ filename }] = JSON.parse(react.stdout) as [{ filename: string }];
    const tarballs = [...packages.map(toFileName), filename].map((name) => `./${name}`);
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd: folder });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const node = async (...words: string[]) => (await run(process.execPath, words, { cwd: folder })).stdout;

  it('bring nothing that is not asked for', () => {
    const installed = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(installed.toSorted()).toEqual(['@rondo', 'create-rondo-app', 'react']);
  });

  it.each(packages)('%s says what it is, under which licence, and from where', (name) => {
    const installed = join(folder, 'node_modules', name);
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;

    expect(manifest).toMatchObject({ name, version, license: 'Apache-2.0' });
    expect(manifest.repository.url).toBe('git+https://github.com/acme/rondo.git');
    expect(readdirSync(join(root, manifest.repository.directory))).toContain('package.json');
    expect(manifest.keywords).toContain('rondo');
    expect(JSON.stringify(manifest)).not.toContain('@rondo/source');
    expect(readdirSync(installed)).toEqual(expect.arrayContaining(['LICENSE', 'CHANGELOG.md', 'README.md']));
    expect(readFileSync(join(installed, 'CHANGELOG.md'), 'utf8')).toContain(`## ${version}\n`);
  });

  it.each(packages)('%s has no fault that publint finds', async (name) => {
    const publint = join(root, 'node_modules/.bin/publint');
    const { stdout } = await run(publint, ['run', join(folder, toFileName(name)), '--strict']);
    expect(stdout).toContain('All good!');
  });

  it.each(packages)('%s resolves with its types in each way that TypeScript has', async (name) => {
    const words = ['--input-type=module', '--eval', resolutionProblems, join(folder, toFileName(name))];
    const { stdout } = await run(process.execPath, words, { cwd: root });
    expect(JSON.parse(stdout)).toEqual([]);
  });

  it('run the commands', async () => {
    const rondo = join(folder, 'node_modules/.bin/rondo');
    expect((await run(rondo, ['--version'], { cwd: folder })).stdout).toBe(`${version}\n`);
    expect((await run(rondo, ['help', 'eval', 'new'], { cwd: folder })).stdout).toContain('rondo eval new');
    const create = join(folder, 'node_modules/.bin/create-rondo-app');
    expect((await run(create, ['--version'])).stdout).toBe(`${version}\n`);
    const nothing = run(rondo, ['runs', '--url', 'http://127.0.0.1:9', '--key', 'k'], { cwd: folder });
    await expect(nothing).rejects.toMatchObject({ stderr: expect.stringContaining('cannot be reached') });
  });

  it('are loaded by import and by require', async () => {
    const show = `console.log(new Rondo({ baseUrl: 'http://localhost:3000' }).runs.constructor.name)`;
    const imported = await node('--input-type=module', '--eval', `import { Rondo } from '@rondo/client'; ${show}`);
    const required = await node('--eval', `const { Rondo } = require('@rondo/client'); ${show}`);
    expect([imported, required]).toEqual(['Runs\n', 'Runs\n']);
  });

  it('are bundled for browsers, without a warning', async () => {
    writeFileSync(join(folder, 'page.mjs'), `export { RunLog } from '@rondo/client'; export * from '@rondo/react';`);
    const esbuild = join(root, 'node_modules/.bin/esbuild');
    const words = ['page.mjs', '--bundle', '--platform=browser', '--format=iife', '--global-name=rondo'];
    const { stdout, stderr } = await run(esbuild, words, { cwd: folder, maxBuffer: 1e7 });

    expect(stderr).toBe('');
    const log = 'console.log(new rondo.RunLog().view.status, typeof rondo.Chat)';
    writeFileSync(join(folder, 'bundle.cjs'), `${stdout};${log}`);
    expect(await node('bundle.cjs')).toBe('queued function\n');
  });

  it.each(['docs/react.md', 'libs/react/README.md'])('are what the programs of %s import', async (document) => {
    const programs = [...readFileSync(join(root, document), 'utf8').matchAll(/```jsx\n(.*?)```/gs)];
    expect(programs.length).toBeGreaterThan(0);
    for (const [index, [, program = '']] of programs.entries()) {
      writeFileSync(join(folder, `program-${index}.jsx`), program);
      const words = [`program-${index}.jsx`, '--bundle', '--jsx=automatic', '--format=esm', '--outdir=programs'];
      expect(
        await run(join(root, 'node_modules/.bin/esbuild'), [...words, '--log-level=warning'], { cwd: folder }),
      ).toEqual({
        stdout: '',
        stderr: '',
      });
    }
  });
});
