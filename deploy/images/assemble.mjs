import { constants, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { billOfMaterials, readAllPackages } from './bill-of-materials.mjs';
import { images } from './contents.mjs';
import { toContents } from './image-files.mjs';
import { thirdPartyNotices } from './third-party-notices.mjs';

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
