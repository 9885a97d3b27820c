import { toTree } from './file-tree';

describe('toTree', () => {
  it('lists paths relative to the workspace, entries of a folder right after it', () => {
    const entries = [
      { path: 'src', kind: 'directory', size: 0 },
      { path: 'a.txt', kind: 'file', size: 3 },
      { path: 'src.txt', kind: 'file', size: 1 },
      { path: 'node_modules', kind: 'directory', size: 0 },
      { path: 'src/b.ts', kind: 'file', size: 7 },
      { path: 'src/c', kind: 'link', size: 1 },
    ] as const;

    expect(toTree('app', [...entries])).toBe(
      [
        'app/a.txt (3 bytes)',
        'app/node_modules/ (not listed)',
        'app/src/',
        'app/src/b.ts (7 bytes)',
        'app/src/c (link)',
        'app/src.txt (1 bytes)',
      ].join('\n'),
    );
    expect(toTree('.', [{ path: 'a', kind: 'other', size: 0 }])).toBe('a (neither file nor folder)');
    expect(toTree('.', [{ path: 'a', kind: 'directory', size: 0, unreadable: true }])).toBe('a/ (cannot be read)');
  });

  it('reports an empty folder', () => {
    expect(toTree('app', [])).toBe('app is empty.');
  });
});
