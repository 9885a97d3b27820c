import { constants, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { images } from './contents.mjs';
import { toContents } from './image-files.mjs';
import { thirdPartyNotices } from './third-party-notices.mjs';
import { execFileSync } from 'node:child_process';

/**
 * Writes what the images contain to `<to>/<image>`, from a built repository, each with its bill of materials and
 * the licences of its packages. `debian` is a
 * folder with dpkg's status file of each system, by its name; without it, bills list no packages of Debian.
 *
 * @typedef {Record<'files' | 'libraries' | 'packages', readonly string[]>} Contents its packages are places of package-lock.json
 *
 * @param {{ root: string, to: string, names?: readonly string[], debian?: string }} request
 * @returns {(Contents & { image: string, folder: string })[]}
 */
export function assemble({ root, to, names = Object.keys(images), debian }) {
  const all = readAllPackages(root);
  return names.map((image) => {
    const contents = toContents(image, root);
    const folder = join(to, image);
    for (const file of contents.files) copy(join(root, file), join(folder, file));
    for (const link of contents.links) symlink(link, folder);
    writeManifest(root, folder);
    const status = debian && join(debian, images[image].system);
    const debianStatus = status && existsSync(status) ? readFileSync(status, 'utf8') : undefined;
    const bill = billOfMaterials({ image, all, root, places: contents.packages, debianStatus });
    writeFileSync(join(folder, 'THIRD_PARTY_NOTICES.txt'), thirdPartyNotices(root, contents.packages));
    writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 1)}\n`);
    return { image, folder, ...contents };
  });
}

function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
}

function symlink({ path, to }, folder) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  symlinkSync(relative(dirname(path), to), join(folder, path));
}

/** What the root's package.json says of the product. Its dependencies are those of the whole repository. */
function writeManifest(root, folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, version, license, private: true })}\n`);
}

/** All packages of package-lock.json as a CycloneDX document, which npm makes. */
function readAllPackages(root) {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  return JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }));
}

/** The CycloneDX document of one image: its packages of npm, those of Debian if its system has any, and Node. */
function billOfMaterials({ image, all, root, places, debianStatus }) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const refs = new Set(places.map((place) => toRef(place, lock[place])));
  const { component, ...metadata } = all.metadata;
  const name = `rondo-${image}`;
  return {
    ...all,
    metadata: { ...metadata, component: { ...component, type: 'container', name, purl: `pkg:oci/${name}` } },
    components: [
      ...all.components.filter((one) => refs.has(one['bom-ref'])),
      {
        type: 'platform',
        name: 'node',
        version: process.versions.node,
        purl: `pkg:generic/node@${process.versions.node}`,
      },
      ...(debianStatus ? debianComponents(debianStatus) : []),
    ],
    dependencies: all.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
  };
}

/** `@scope/name@1.2.3`. A package that is installed under another name has its own in `name`. */
function toRef(place, { name, version }) {
  return `${name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`;
}

/** The installed packages of a dpkg status file. */
function debianComponents(status) {
  const installed = status.split('\n\n').filter((entry) => entry.includes('\nStatus: install ok installed\n'));
  return installed.map((entry) => {
    const field = (name) => new RegExp(`^${name}: (.+)$`, 'm').exec(entry)?.[1] ?? '';
    const [name, version, architecture] = ['Package', 'Version', 'Architecture'].map(field);
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
    return { 'bom-ref': purl, type: 'library', name, version, purl };
  });
}
