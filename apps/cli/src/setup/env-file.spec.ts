import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { withSettings, writeSettings } from './env-file';

describe('withSettings', () => {
  it('replaces a setting, adds others, and keeps every other line', () => {
    const before = '# mine\nPORT=1\n#DEFAULT_MODEL=x\n\nexport HOST=a\n';

    expect(withSettings(before, { PORT: '2', HOST: 'b', DEFAULT_MODEL: 'openai/gpt-5' })).toBe(
      '# mine\n#DEFAULT_MODEL=x\n\nPORT=2\nHOST=b\nDEFAULT_MODEL=openai/gpt-5\n',
    );
  });

  it('changes nothing the second time', () => {
    const once = withSettings('A=1\n', { B: 'x y', C: '' });
    expect(withSettings(once, { B: 'x y', C: '' })).toBe(once);
  });

  it('writes what Node reads again', () => {
    const value = fc.string({ unit: 'grapheme-ascii' }).filter((text) => !text.includes("'"));
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[A-Z][A-Z_]{0,8}$/), value, { noNullPrototype: true }),
        (settings) => {
          expect(parseEnv(withSettings('', settings))).toEqual(settings);
        },
      ),
    );
  });

  it('refuses a value that would become another line', () => {
    expect(() => withSettings('', { A: 'x\nB=y' })).toThrow('line ends');
  });
});

describe('writeSettings', () => {
  it('lets only the owner read the file, also one that others could read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'setup-'));
    const file = join(folder, '.env');
    writeFileSync(file, 'A=1\n', { mode: 0o644 });

    writeSettings(file, { B: '2' });

    expect(readFileSync(file, 'utf8')).toBe('A=1\nB=2\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    rmSync(folder, { recursive: true });
  });
});
