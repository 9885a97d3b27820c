import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { run } from '../run-program.mjs';

const mirror =
  'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main';
const source = 'kubernetes';

/**
 * Unpacks Debian's source package of Kubernetes into the place where Go finds it, once. apt checks its signature; the lists and
 * caches are of our own, because a machine seldom lists sources. Returns the folder.
 */
async function kubernetesSource(directory, goPath) {
  const parent = join(goPath, 'src/k8s.io');
  const folder = join(parent, 'kubernetes');
  if (existsSync(folder)) return folder;
  const downloads = join(directory, 'source');
  await download(downloads);
  const archive = readdirSync(downloads).find((name) => name.endsWith('.orig.tar.gz'));
  const draft = join(parent, 'draft');
  mkdirSync(draft, { recursive: true });
  await run('tar', ['-xzf', join(downloads, archive), '--strip-components=1', '-C', draft]);
  renameSync(draft, folder);
  return folder;
}

async function download(directory) {
  const caches = join(directory, 'apt');
  for (const path of ['cache/archives/partial', 'state/lists/partial'])
    mkdirSync(join(caches, path), { recursive: true });
  const list = join(caches, 'sources.list');
  writeFileSync(list, `${mirror}\n`);
  const options = [
    ...[`Dir::Cache=${caches}/cache`, `Dir::State=${caches}/state`, `Dir::Etc::sourcelist=${list}`],
    ...['Dir::Etc::sourceparts=-', 'Debug::NoLocking=1', 'Acquire::Languages=none', 'APT::Sandbox::User=root'],
  ].flatMap((setting) => ['-o', setting]);
  await run('apt-get', [...options, 'update']);
  await run('apt-get', [...options, 'source', '--download-only', source], { cwd: directory });
}

/** The version of Debian's newest source package that is complete. */
export const kubernetesVersion = 'v1.20.2';
export const kubernetesPrograms = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
];

const project = 'k8s.io/kubernetes';
const vendored = `${project}/vendor`;

/** Builds one program of Kubernetes with Debian's Go, if that has not been done. Returns its path. */
export async function buildKubernetes(program, { directory, go }) {
  const file = join(directory, 'bin', program);
  if (existsSync(file)) return file;
  const compiler = await compilerFor(directory, go);
  mkdirSync(dirname(file), { recursive: true });
  const version = `-X ${vendored}/k8s.io/component-base/version.gitVersion=${kubernetesVersion}`;
  const draft = `${file}.draft`;
  await compiler('build', '-ldflags', `-s -w ${version}`, '-o', draft, `${project}/cmd/${program}`);
  renameSync(draft, file);
  return file;
}

/** Go with the source of Kubernetes, and with the file that Debian's package does not contain because it is generated. */
async function compilerFor(directory, go) {
  const build = join(directory, 'build');
  const goPath = join(build, 'gopath');
  const source = await kubernetesSource(build, goPath);
  const env = {
    ...process.env,
    ...{ GOROOT: go, GOPATH: goPath, GOCACHE: join(build, 'gocache') },
    ...{ GO111MODULE: 'off', GOFLAGS: '', CGO_ENABLED: '0' },
  };
  const compiler = (...args) => run(join(go, 'bin/go'), args, { cwd: source, env });
  const generated = join(source, 'pkg/generated/openapi/zz_generated.openapi.go');
  if (!existsSync(generated)) await generateOpenApi({ compiler, source, goPath, env });
  return compiler;
}

async function generateOpenApi({ compiler, source, goPath, env }) {
  const generator = join(goPath, 'openapi-gen');
  const empty = join(goPath, 'empty.txt');
  writeFileSync(empty, '');
  await compiler('build', '-o', generator, `${vendored}/k8s.io/kube-openapi/cmd/openapi-gen`);
  const packages = ['staging/src', 'pkg'].flatMap((folder) => listMarkedPackages(join(source, folder)));
  const names = [...new Set(packages)].sort().map((path) => {
    const inSource = relative(source, path);
    return inSource.startsWith('staging/src/') ? inSource.replace('staging/src', vendored) : `${project}/${inSource}`;
  });
  const output = [
    '-O',
    'zz_generated.openapi',
    '-p',
    `${project}/pkg/generated/openapi`,
    '--output-base',
    join(goPath, 'src'),
  ];
  const report = ['-h', empty, '-r', join(goPath, 'violations.txt')];
  await run(generator, ['-i', names.join(','), ...output, ...report], { cwd: source, env });
}

/** The packages whose types the API describes say so in a comment. */
function listMarkedPackages(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.go'))
    .map((name) => join(folder, name))
    .filter((file) => readFileSync(file, 'utf8').includes('+k8s:openapi-gen='))
    .map(dirname);
}
