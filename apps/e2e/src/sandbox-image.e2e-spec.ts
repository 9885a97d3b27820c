import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

const read = (path: string): string => readFileSync(join(repoRoot, path), 'utf8');

describe('the image for sandboxes', () => {
  it('has the packages that docs/sandboxes.md lists', () => {
    const [, installed = ''] = /--no-install-recommends \\\n([^&]*) \\\n/.exec(read('deploy/sandbox/Dockerfile')) ?? [];
    const [, table = ''] =
      /## An image with tools\n[^]*?\|---\|---\|\n([^]*?)\n\n/.exec(read('docs/sandboxes.md')) ?? [];
    const listed = [...table.matchAll(/`([^`]+)`/g)].map(([, name]) => name);

    expect(listed.sort()).toEqual(installed.split(/[\s\\]+/).filter(Boolean));
  });
});
