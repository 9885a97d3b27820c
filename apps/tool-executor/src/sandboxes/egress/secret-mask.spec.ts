import fc from 'fast-check';
import { once } from 'node:events';
import { toForms } from './secret-forms';
import { SecretMask } from './secret-mask';

const values = ['sesame-opens', 'sesame-opens-twice', 'aaaaaaaaaaaa', 'a/b+c=d&e<f'];
const forms = values.flatMap((value) => toForms(value));

/** Its pieces, masked as a stream. */
async function inPieces(text: string, ends: readonly number[]): Promise<string> {
  const masked = new SecretMask(() => forms).stream();
  const shown: Buffer[] = [];
  masked.on('data', (bytes: Buffer) => shown.push(bytes));
  const places = [0, ...ends.map((end) => end % (text.length + 1)), text.length].sort((one, other) => one - other);
  for (const [index, from] of places.entries()) masked.write(text.slice(from, places[index + 1] ?? from));
  masked.end();
  await once(masked, 'end');
  return Buffer.concat(shown).toString();
}

describe('a mask of secrets', () => {
  const mask = new SecretMask(() => forms);

  it('takes the longest form that stands at a place', () => {
    expect(mask.text('sesame-opens sesame-opens-twice sesame-open')).toBe(
      `${'*'.repeat(12)} ${'*'.repeat(18)} sesame-open`,
    );
    expect(mask.text('aaaaaaaaaaaaaa b')).toBe('************aa b');
    expect(mask.text('nothing to hide')).toBe('nothing to hide');
  });

  it('shows the same, in whatever pieces a text comes', async () => {
    const piece = fc.oneof(fc.constantFrom(...forms), fc.constantFrom('sesame-', 'aaa', ' ', '*', 'x'));
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(300), { maxLength: 8 }), async (whole, ends) => {
        expect(await inPieces(whole, ends)).toBe(mask.text(whole));
      }),
      { numRuns: 200 },
    );
  });

  it('masks what it learns while a text is read', async () => {
    let known: readonly string[] = [];
    const masked = new SecretMask(() => known).stream();
    masked.write('before ');
    known = forms;
    masked.end('sesame-opens');
    expect((await masked.toArray()).join('')).toBe(`before ${'*'.repeat(12)}`);
  });
});
