import fc from 'fast-check';
import { posix } from 'node:path';
import { SandboxError } from './sandbox-error';
import { relativeToWorkspace, toShownPath } from './workspace-path';

const segment = fc.oneof(
  fc.constantFrom('..', '.', '', '/', 'workspace', 'a', '...', '..a'),
  fc.string({ maxLength: 5 }),
);

describe('relativeToWorkspace', () => {
  it.each([
    ['a/b.txt', 'a/b.txt'],
    ['/workspace/a', 'a'],
    ['./a/../b', 'b'],
    ['', ''],
    ['/workspace', ''],
    ['..a', '..a'],
  ])('reads %j as %j', (path, expected) => {
    expect(relativeToWorkspace(path)).toBe(expected);
  });

  it.each(['..', '../x', 'a/../../x', '/etc/passwd', '/workspace2/a', '/workspace/../etc', 'a\0b', 'x'.repeat(5000)])(
    'refuses %j',
    (path) => {
      expect(() => relativeToWorkspace(path)).toThrow(SandboxError);
    },
  );

  it('never returns a path outside the workspace, for any input', () => {
    fc.assert(
      fc.property(fc.array(segment), (segments) => {
        try {
          const resolved = posix.resolve('/workspace', relativeToWorkspace(segments.join('/')));
          expect(resolved === '/workspace' || resolved.startsWith('/workspace/')).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(SandboxError);
        }
      }),
    );
  });
});

describe('shownPath', () => {
  it.each([
    ['/workspace', '.'],
    ['/workspace/a/', 'a'],
    ['/skills', '/skills'],
    ['../skills/', '/skills'],
    ['/skills/a/b', '/skills/a/b'],
  ])('shows %j as %j', (path, expected) => {
    expect(toShownPath(path)).toBe(expected);
  });
});
