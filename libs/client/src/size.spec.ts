import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const root = resolve(__dirname, '../../..');

/** What an application that imports everything loads. */
function countBytes(entry: string): number {
  const options = ['--bundle', '--minify', '--format=esm', '--external:react'];
  const bundle = execFileSync(join(root, 'node_modules/.bin/esbuild'), [join(__dirname, entry), ...options]);
  return gzipSync(bundle, { level: 9 }).length;
}

describe('the size of the client', () => {
  it.each(['index.ts', 'react.ts'])('%s is at most 13 KiB, minified and compressed', (entry) => {
    expect(countBytes(entry)).toBeGreaterThan(1_000);
    expect(countBytes(entry)).toBeLessThanOrEqual(13 * 1024);
  });
});
