import { Parser, type ParserRequest, Unreadable, usualParserLimits } from './parser';
import { createZip } from './testing/zip';

const never = new AbortController().signal;
const document = { kind: 'document', characters: 100_000, pages: 100 } as const;
const page = { kind: 'page', url: 'https://example.org/' } as const;

describe('attack: hostile documents', () => {
  const parser = new Parser(usualParserLimits);
  const readProblem = async (request: ParserRequest, bytes: Buffer, by = parser) => {
    const error: unknown = await by.parse(request, bytes, never).catch((reason: unknown) => reason);
    if (!(error instanceof Unreadable)) throw error;
    return error.message;
  };

  it('a page with a million elements', async () => {
    expect(await readProblem(page, Buffer.from('<b>x</b>'.repeat(1_000_000)))).toContain(
      'it has 1000000 elements; the limit is 50000',
    );
  });

  it('a page whose elements are nested so deep that reading it takes too long', async () => {
    const impatient = new Parser({ ...usualParserLimits, timeoutMs: 2_000 });
    const bytes = Buffer.from(`${'<div>'.repeat(45_000)}${'x'.repeat(300)}`);

    expect(await readProblem(page, bytes, impatient)).toMatch(/takes longer than 2 s|damaged/);
  });

  it('a zip bomb', async () => {
    const bomb = createZip({ 'word/document.xml': Buffer.alloc(300 * 1024 * 1024) });

    expect(bomb.length).toBeLessThan(1_000_000);
    expect(await readProblem(document, bomb)).toBe('it is larger than 200 MiB when it is decompressed');
  });

  it('a zip bomb that declares a small size', async () => {
    const bomb = createZip({ 'word/document.xml': Buffer.alloc(300 * 1024 * 1024) }, { declaredSize: 100 });

    expect(await readProblem(document, bomb)).toMatch(/larger than 200 MiB|damaged/);
  });

  it('an archive with more parts than are counted', async () => {
    const parts = Array.from({ length: 10_001 }, (_, index) => [`part-${index}`, Buffer.alloc(0)]);

    expect(await readProblem(document, createZip(Object.fromEntries(parts)))).toBe('it has more than 10000 parts');
  });

  it('an input that takes more memory than is allowed', async () => {
    const small = new Parser({ ...usualParserLimits, memoryBytes: 90 * 1024 * 1024 });
    const sheet = Buffer.from(`<div>${'<p>text</p>'.repeat(45_000)}</div>`);

    expect(await readProblem(page, sheet, small)).toBe('reading it takes more memory than is allowed');
  });

  it('an external entity of a presentation', async () => {
    const slide = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><p:sld><a:p><a:t>&x;</a:t></a:p></p:sld>';
    const bytes = createZip({
      'ppt/presentation.xml': Buffer.from('<a/>'),
      'ppt/slides/slide1.xml': Buffer.from(slide),
    });

    const { text } = await parser.parse(document, bytes, never);

    expect(text).not.toContain('root:');
  });

  it.each(['%PDF-1.7 endless', 'PK\u0003\u0004 truncated', '\u0089PNG\r\n\u001a\n'])(
    '%j, and nothing after it',
    async (text) => {
      expect(await readProblem(document, Buffer.from(text, 'latin1'))).toMatch(/^it is (damaged|neither)/);
    },
  );

  it('an image of 10 GB of pixels', async () => {
    const image = { kind: 'image', width: 100, height: 100, pixels: 50_000_000, maxBytes: 1_000_000 } as const;
    const header = Buffer.from('89504e470d0a1a0a0000000d49484452000186a0000186a00802000000', 'hex');
    const bytes = Buffer.concat([header, Buffer.from('00000000', 'hex')]);

    expect(await readProblem(image, bytes)).toMatch(/more than 50000000 pixels|damaged/);
  });
});

it('ends with the reason of its signal, also while it waits for a slot', async () => {
  const parser = new Parser({ ...usualParserLimits, processes: 1 });
  const stop = new AbortController();
  const slow = Buffer.from('<div>'.repeat(45_000));
  const first = parser.parse(page, slow, stop.signal);
  const second = parser.parse(page, Buffer.from('<p>short</p>'), stop.signal);
  const outcomes = Promise.allSettled([first, second]);

  stop.abort(new Error('stopped'));

  expect(await outcomes).toMatchObject(Array(2).fill({ status: 'rejected', reason: new Error('stopped') }));
  expect(await parser.parse(page, Buffer.from('<p>short</p>'), never)).toMatchObject({ markdown: 'short' });
});
