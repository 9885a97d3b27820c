import fc from 'fast-check';
import { decodeText, selectLines } from './select-lines';

const whole = { first: undefined, last: undefined };

describe('selectLines', () => {
  it('returns a whole file unchanged', () => {
    expect(selectLines('a\r\nb\n\tc', whole)).toEqual({ success: true, output: 'a\r\nb\n\tc' });
  });

  it('returns the requested lines and their numbers', () => {
    expect(selectLines('a\nb\nc\nd', { first: 2, last: 3 }).output).toBe('b\nc\n[lines 2 to 3 of 4]');
    expect(selectLines('a\nb\nc\nd', { first: 4, last: 9 }).output).toBe('d\n[lines 4 to 4 of 4]');
  });

  it('stops at whole lines when there are too many, and says where to continue', () => {
    const result = selectLines('0123456789\n'.repeat(5_000), whole);

    expect(result).toMatchObject({ success: true, truncated: true });
    expect(result.output).toMatch(/0123456789\n\[lines 1 to 2727 of 5000; continue with start_line=2728\]$/);
  });

  it('shows the ends of a single line that is too long', () => {
    const result = selectLines(`${'x'.repeat(50_000)}\nshort`, whole);

    expect(result.truncated).toBe(true);
    expect(result.output).toContain('characters left out');
    expect(result.output).toContain('[lines 1 to 1 of 2; continue with start_line=2]');
  });

  it('refuses lines that do not exist', () => {
    expect(selectLines('a\nb\n', { first: 3, last: undefined })).toMatchObject({
      success: false,
      error: 'The file has only 2 lines.',
    });
    expect(selectLines('a\nb\n', { first: 2, last: 1 }).success).toBe(false);
    expect(selectLines('', whole).output).toBe('[the file is empty]');
  });

  it('returns every text that fits unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'é', ' '), minLength: 1 }), (text) => {
        expect(selectLines(text, whole).output).toBe(text);
      }),
    );
  });
});

describe('decodeText', () => {
  it('detects text by its bytes and keeps a byte order mark', () => {
    expect(decodeText(Buffer.from('\uFEFFé'))).toBe('\uFEFFé');
    expect(decodeText(Buffer.from([0x61, 0x00, 0x62]))).toBeUndefined();
    expect(decodeText(Buffer.from([0xff, 0xd8, 0xff, 0xe0]))).toBeUndefined();
  });
});
