import fc from 'fast-check';
import { previewLabel, readPreviewLabel } from './preview-label';

const characters = (alphabet: string, length: number) =>
  fc.string({ unit: fc.constantFrom(...Array.from(alphabet)), minLength: length, maxLength: length });

describe('the host label of a preview', () => {
  it('says thread, port or site, and token, also after a browser has changed its case', () => {
    const address = fc.record({
      threadId: characters('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 26).map((ulid) => `thr_${ulid}`),
      token: characters('0123456789abcdefghijklmnopqrstuv', 20),
    });
    const port = fc.record({ port: fc.integer({ min: 1, max: 65_535 }) }, { requiredKeys: [] });
    fc.assert(
      fc.property(address, port, (whose, what) => {
        const given = { ...whose, ...what };
        const label = previewLabel(given) ?? '';
        expect(label.length).toBeLessThanOrEqual(63);
        expect(readPreviewLabel(label)).toEqual(given);
        expect(readPreviewLabel(label.toUpperCase())).toEqual(given);
      }),
    );
  });

  it.each([
    '',
    'www',
    'p0-x-y',
    's-x-y',
    's8-01m8908yq4737s91khb25jnhjt-00000000000000000000',
    'p70000-01m8908yq4737s91khb25jnhjt-00000000000000000000',
    'p80-short-token',
  ])('is not %j', (text) => expect(readPreviewLabel(text)).toBeUndefined());

  it('is refused to a thread whose id depends on its case', () => {
    expect(previewLabel({ threadId: 'thr_one', port: 80, token: '0'.repeat(20) })).toBeUndefined();
  });
});
