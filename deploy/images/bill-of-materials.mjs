import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** All packages of package-lock.json as a CycloneDX document, which npm makes. */
export function readAllPackages(root) {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  return JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }));
}

/** The CycloneDX document of one image: its packages of npm, those of Debian if its system has any, and Node. */
export function billOfMaterials({ image, all, root, places, debianStatus }) {
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
