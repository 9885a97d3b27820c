import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { images } from './images/contents.mjs';
import { toContents } from './images/image-files.mjs';
import { placeOfPackage, thirdPartyNotices } from './images/third-party-notices.mjs';
import { repoRoot } from './local/repo-root.mjs';

/**
 * `npm run --silent notices` prints the licences of all packages in the images of a built repository. With `--bundle FILE`, the
 * metafile of esbuild, it writes those of what was bundled beside that file, which it removes.
 */
const { values } = parseArgs({ options: { bundle: { type: 'string' } } });
if (values.bundle === undefined) {
  const places = Object.keys(images).flatMap((image) => toContents(image, repoRoot).packages);
  process.stdout.write(thirdPartyNotices(repoRoot, places));
} else {
  const { inputs } = JSON.parse(readFileSync(values.bundle, 'utf8'));
  const files = Object.keys(inputs).map((file) => relative(repoRoot, resolve(file)));
  const places = files.flatMap((file) => placeOfPackage(file) ?? []);
  writeFileSync(join(dirname(values.bundle), 'THIRD_PARTY_NOTICES.txt'), thirdPartyNotices(repoRoot, places));
  rmSync(values.bundle);
}
