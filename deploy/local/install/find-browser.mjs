import { join } from 'node:path';
import { chromium } from './chromium.mjs';
import { reachableDirectory } from '../processes/data-directory.mjs';
import { DebianPackages } from './debian-packages.mjs';
import { repoRoot } from '../repo-root.mjs';

/**
 * The Chromium of the commands that look at pages: `BROWSER_PATH`, this machine's, or the one that `npm start` and `npm test`
 * unpack in the data directory of this checkout, which is unpacked if it is not there yet.
 */
export async function findBrowser(root = repoRoot) {
  const file = process.env.BROWSER_PATH ?? chromium.findLocal()?.file ?? (await unpackChromium(join(root, '.data')));
  await chromium.tryOut(file);
  return file;
}

async function unpackChromium(dataDir) {
  if (!DebianPackages.isPossible()) throw new Error(`There is no Chromium: ${chromium.install}.`);
  const packages = new DebianPackages(reachableDirectory(dataDir, 'packages'));
  try {
    const { file } = await chromium.fromPackages(packages);
    return file;
  } finally {
    packages.forget();
  }
}
