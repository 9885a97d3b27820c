import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { images } from '../../images/contents.mjs';
import { Containers, installContainerTools } from '../containers/containers.mjs';
import { DebianPackages } from '../install/debian-packages.mjs';
import { buildImage, imageName } from '../containers/image-build.mjs';
import { buildNodeBase } from '../containers/node-base.mjs';
import { repoRoot } from '../repo-root.mjs';

const pause = 'localhost/pause:1';
const servers = ['postgres', 'redis', 'nats'];
const serviceImages = Object.keys(images).map((target) => `${imageName(target)}:latest`);

export const serverImage = (server) => `localhost/rondo-bundled-${server}:1`;

/** Every image that the cluster's pods have, built by buildah. */
export class ImageStore {
  #directory;
  #containers;

  /** `imagesDirectory` is that of `npm run images`, so that both build once. */
  constructor(directory, imagesDirectory) {
    this.#directory = directory;
    this.#containers = { directory: imagesDirectory };
  }

  /** Builds the services from this checkout, or takes them as they were built last. */
  async buildServices({ keep }) {
    await installContainerTools();
    const containers = this.#open();
    if (keep && (await this.#haveAll(serviceImages))) return 'as built last';
    const base = await buildNodeBase(containers, this.#containers.directory);
    for (const target of Object.keys(images)) await buildImage(containers, { target, base });
    return `${serviceImages.length} images`;
  }

  async buildServers() {
    const containers = this.#open();
    const base = await buildNodeBase(containers, this.#containers.directory);
    const folder = join(import.meta.dirname, 'server-images');
    for (const server of servers) {
      if (await containers.hasImage(serverImage(server))) continue;
      const place = ['--file', join(folder, 'Containerfile'), '--target', server, '--tag', serverImage(server), folder];
      await containers.buildah('bud', '--pull-never', '--isolation', 'chroot', '--build-arg', `BASE=${base}`, ...place);
    }
    if (!(await containers.hasImage(pause))) await this.#buildPause();
  }

  /** Copies the images into containerd, unless it has these already. `ctr` runs its command line. */
  async importInto(ctr) {
    const names = [...serviceImages, ...servers.map(serverImage), pause];
    const ids = await this.#findIds(names);
    const mark = join(this.#directory, 'containerd/imported.json');
    const known = existsSync(mark) ? JSON.parse(readFileSync(mark, 'utf8')) : {};
    const fresh = names.filter((name) => known[name] !== ids[name]);
    if (fresh.length === 0) return 'all there';
    const archive = join(this.#directory, 'images.tar');
    rmSync(archive, { force: true });
    await this.#open().podman('save', '--multi-image-archive', '--output', archive, ...fresh);
    await ctr('images', 'import', archive);
    rmSync(archive);
    writeFileSync(mark, JSON.stringify(ids));
    return `${fresh.length} images`;
  }

  #open() {
    this.#containers.opened ??= new Containers(this.#containers.directory);
    return this.#containers.opened;
  }

  async #haveAll(names) {
    const found = await Promise.all(names.map((name) => this.#open().hasImage(name)));
    return found.every(Boolean);
  }

  async #findIds(names) {
    const ids = {};
    for (const name of names) ids[name] = (await this.#open().inspect(name)).Id;
    return ids;
  }

  /** What holds the namespaces of a pod: a program that does nothing. */
  async #buildPause() {
    const packages = new DebianPackages(join(this.#directory, 'packages'));
    await packages.unpack('busybox', { packages: ['busybox-static'], programs: [] });
    packages.forget();
    const folder = join(this.#directory, 'pause');
    mkdirSync(folder, { recursive: true });
    copyFileSync(join(this.#directory, 'packages/busybox/root/bin/busybox'), join(folder, 'busybox'));
    writeFileSync(
      join(folder, 'Containerfile'),
      'FROM scratch\nCOPY busybox /busybox\nENTRYPOINT ["/busybox", "sleep", "2147483647"]\n',
    );
    await this.#open().buildah('bud', '--file', join(folder, 'Containerfile'), '--tag', pause, folder);
  }
}

export const imagesDirectory = join(repoRoot, '.data/images');
