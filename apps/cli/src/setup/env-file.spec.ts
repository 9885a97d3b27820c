import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { readSettings, withSettings, writeSettings } from './env-file';

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
    const value = fc.string({ unit: 'grapheme-ascii' }).filter((text) => !/"/.test(text));
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[A-Z][A-Z_]{0,8}$/), value, { noNullPrototype: true }),
        (settings) => {
          expect(parseEnv(withSettings('', settings))).toEqual(settings);
        },
      ),
    );
  });

  it('refuses a value that would become another line, by its name', () => {
    expect(() => withSettings('', { A: 'x\nB=y' })).toThrow('The value of A cannot have line ends');
    expect(() => withSettings('', { A: `'"\`` })).toThrow('quotes');
  });

  it.each(["'", '"', '`'])('replaces a setting with all of its lines between %s', (quote) => {
    const before = `# don't\nexport LIST=${quote}[\n  "a=b"\n]${quote} # mine\nPORT=1\n`.replaceAll(
      '"a=b"',
      quote === '"' ? 'a=b' : '"a=b"',
    );

    expect(withSettings(before, { LIST: '[]' })).toBe("# don't\nPORT=1\nLIST='[]'\n");
    expect(withSettings(before, { PORT: '2' })).toBe(before.replace('PORT=1', 'PORT=2'));
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

  it('sees the first setting of a file that begins with a mark of its encoding', () => {
    const folder = mkdtempSync(join(tmpdir(), 'setup-'));
    const file = join(folder, '.env');
    writeFileSync(file, '\uFEFFPORT=4000\r\nHOST=a\r\n');

    expect(readSettings(file)).toEqual({ PORT: '4000', HOST: 'a' });
    writeSettings(file, { HOST: 'b' });

    expect(readFileSync(file, 'utf8')).toBe('PORT=4000\r\nHOST=b\n');
    rmSync(folder, { recursive: true });
  });
});
