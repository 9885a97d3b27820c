import fc from 'fast-check';
import { BoundedOutput } from './bounded-output';

/** The text in chunks whose borders may lie within a character. */
function listChunks(text: string, size: number): Buffer[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

/** What half a character becomes; a text that has it itself would prove nothing. */
const replacement = '\uFFFD';
const text = fc.string({ unit: 'grapheme', maxLength: 200 }).filter((written) => !written.includes(replacement));

describe('BoundedOutput', () => {
  it('returns short output unchanged, whatever the chunks', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 7 }), (written, size) => {
        const output = new BoundedOutput(10_000);
        listChunks(written, size).forEach((chunk) => output.push(chunk));

        expect(output.final()).toBe(written);
        expect(output.truncated).toBe(false);
      }),
    );
  });

  it('returns in steps what adds up to the whole, in whole characters', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 7 }), (written, size) => {
        const output = new BoundedOutput(10_000);
        let offset = 0;
        let seen = '';
        for (const chunk of listChunks(written, size)) {
          output.push(chunk);
          const { text: news, nextOffset } = output.since(offset);
          seen += news;
          offset = nextOffset;
        }

        expect(seen).toBe(written);
      }),
    );
  });

  it('keeps the head and the tail of long output, in whole characters, within its bound', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 7 }), fc.integer({ min: 8, max: 64 }), (written, size, keep) => {
        const output = new BoundedOutput(keep);
        listChunks(written, size).forEach((chunk) => output.push(chunk));
        const total = Buffer.byteLength(written);
        fc.pre(total > keep + 1);

        const [head = '', tail = ''] = output.final().split(/\n\[… \d+ bytes left out …\]\n/);
        expect(output.truncated).toBe(true);
        expect(written.startsWith(head)).toBe(true);
        expect(written.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(keep + 1);
        expect(`${head}${tail}`).not.toContain(replacement);
      }),
    );
  });

  it('reports how much of the requested range is left out', () => {
    const output = new BoundedOutput(10);
    output.push(Buffer.from('abcdefghijklmnopqrstuvwxyz'));

    expect(output.since(0).text).toBe('abcde\n[… 16 bytes left out …]\nvwxyz');
    expect(output.since(10).text).toBe('\n[… 11 bytes left out …]\nvwxyz');
    expect(output.since(22)).toEqual({ text: 'wxyz', nextOffset: 26 });
    expect(output.since(99)).toEqual({ text: '', nextOffset: 99 });
  });

  it('replaces bytes that are not text', () => {
    const output = new BoundedOutput(100);
    output.push(Buffer.from([0x61, 0xff, 0x62, 0xe2, 0x82]));

    expect(output.final()).toBe('a\uFFFDb\uFFFD');
  });
});
