import { deflateSync } from 'node:zlib';
import { countPages } from './count-pages';

const pdf = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat(['%PDF-1.7\n', ...parts].map((part) => Buffer.from(part)));
const objects = (text: string): Buffer =>
  Buffer.concat([
    Buffer.from('4 0 obj << /Type /ObjStm /N 2 /First 9 /Filter /FlateDecode >>\nstream\n'),
    deflateSync(text),
    Buffer.from('\nendstream endobj\n'),
  ]);

describe('the pages of a PDF', () => {
  it.each([
    ['plain objects', pdf('<< /Type /Pages /Count 2 >> << /Type /Page >> <</Type/Page/Parent 1 0 R>>'), 2],
    ['compressed objects', pdf(objects('<</Type/Page>><</Type/Page>>'), objects('<</Type/Page>>')), 3],
    ['both', pdf('<</Type/Page>>', objects('<</Type/Pages>><</Type/Page>>')), 2],
    ['none', pdf('<</Type/Catalog>>'), undefined],
    ['an encrypted file', pdf('<</Type/Page>> trailer << /Encrypt 5 0 R >>'), undefined],
    ['another compression', pdf('<< /Type /ObjStm /Filter /LZWDecode >>\nstream\nxyz'), undefined],
    ['no PDF', Buffer.from('<</Type/Page>>'), undefined],
  ])('are counted in %s', (_, bytes, pages) => {
    expect(countPages(bytes)).toBe(pages);
  });

  it('are not looked for in more than a reader would need', () => {
    const bomb = objects(' '.repeat(20 * 1024 * 1024));
    expect(countPages(pdf('<</Type/Page>>', bomb, bomb))).toBeUndefined();
    const many = Array.from({ length: 2_001 }, () => objects(''));
    expect(countPages(pdf('<</Type/Page>>', ...many))).toBeUndefined();
  });
});
