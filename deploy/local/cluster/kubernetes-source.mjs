import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../run-program.mjs';

const mirror =
  'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main';
const source = 'kubernetes';

/**
 * Unpacks Debian's source package of Kubernetes into the place where Go finds it, once. apt checks its signature; the lists and
 * caches are of our own, because a machine seldom lists sources. Returns the folder.
 */
export async function kubernetesSource(directory, goPath) {
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
