import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { repoRoot } from '../repo-root.mjs';
import { run } from '../run-program.mjs';

/** npm opens more files at once than the 1024 that buildah allows. */
const filesOfBuild = '--ulimit=nofile=16384:16384';

export const imageName = (target) => `localhost/rondo-${target}`;

/** Builds one target of deploy/Dockerfile from this checkout. What targets have in common is built once. */
export async function buildImage(containers, { target, base }) {
  const settings = join(homedir(), '.npmrc'); // of a registry that is not npm's; it is mounted, and so in no image
  await containers.buildah(
    'bud',
    ...['--pull-never', '--isolation', 'chroot', '--layers', '--format', 'docker', filesOfBuild],
    ...['--build-arg', `NODE_IMAGE=${base}`, '--label', `org.opencontainers.image.revision=${await revision()}`],
    ...(existsSync(settings) ? ['--volume', `${settings}:/root/.npmrc:ro`] : []),
    ...['--file', join(repoRoot, 'deploy/Dockerfile'), '--target', target, '--tag', imageName(target), repoRoot],
  );
}

async function revision() {
  const { stdout } = await run('git', ['rev-parse', 'HEAD'], { cwd: repoRoot });
  return stdout.trim();
}

const secretName = /KEY|TOKEN|PASSWORD|SECRET|CREDENTIAL/i;
const secretValue = /\w*(KEY|TOKEN|PASSWORD|SECRET|CREDENTIAL)\w*=/i;

/** What is wrong with an image, as `podman image inspect` describes it: who it runs as, what it says of itself, what it lets see. */
export function listFlaws({ Config, History, User }) {
  const labels = ['title', 'description', 'licenses', 'version', 'revision'].map(
    (name) => `org.opencontainers.image.${name}`,
  );
  const variables = (Config.Env ?? []).map((entry) => entry.split('=')[0]);
  return [
    ...(User === 'node' ? [] : [`runs as ${User || 'root'}`]),
    ...labels.filter((label) => !Config.Labels?.[label]).map((label) => `has no label ${label}`),
    ...variables.filter((name) => secretName.test(name)).map((name) => `has the variable ${name}`),
    ...History.filter(({ created_by: step = '' }) => secretValue.test(step)).map((step) => `shows ${step.created_by}`),
  ];
}
