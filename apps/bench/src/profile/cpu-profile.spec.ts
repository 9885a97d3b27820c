import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { largestCosts, packageCosts } from './cpu-profile';

const directory = mkdtempSync(join(tmpdir(), 'bench-profile-'));
const file = join(directory, 'service.cpuprofile');

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 6 });

beforeAll(() => {
  const nodes = [
    { id: 1, callFrame: frame('(root)'), children: [2, 3, 6] },
    { id: 2, callFrame: frame('(idle)') },
    { id: 3, callFrame: frame('publish', '/here/node_modules/nats/lib/core.js'), children: [4] },
    { id: 4, callFrame: frame('writeBuffer') },
    { id: 6, callFrame: frame('think', 'file:///here/libs/domain/dist/think.js') },
  ];
  writeFileSync(file, JSON.stringify({ nodes, samples: [2, 2, 2, 4, 4, 3, 6] }));
});

afterAll(() => rmSync(directory, { recursive: true }));

it('divides the time that a process was not idle among its functions', () => {
  expect(largestCosts(file, 2)).toEqual([
    { where: 'writeBuffer', share: 0.5 },
    { where: 'publish nats/lib/core.js:7', share: 0.25 },
  ]);
});

it('counts time in the code of Node for the package that called it', () => {
  expect(packageCosts(file, 2)).toEqual([
    { where: 'nats', share: 0.75 },
    { where: 'libs/domain', share: 0.25 },
  ]);
});
