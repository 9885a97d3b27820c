import { newUlid, ulidMs } from './ulid';

describe('newUlid', () => {
  afterEach(() => jest.restoreAllMocks());

  it('makes 26 characters of Crockford base 32', () => {
    expect(newUlid()).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it('encodes the time', () => {
    const at = Date.parse('2100-01-01T00:00:00Z');
    jest.spyOn(Date, 'now').mockReturnValue(at);

    const digits = Array.from(newUlid().slice(0, 10), (letter) => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(letter));

    expect(digits.reduce((time, digit) => time * 32 + digit)).toBe(at);
  });

  it('sorts in the order of creation, also within one millisecond and when the clock goes back', () => {
    const times = [5e12, 5e12, 5e12, 4e12, 5e12 + 1];
    jest.spyOn(Date, 'now').mockImplementation(() => times.shift() ?? 5e12 + 1);

    const made = Array.from({ length: 10_000 }, newUlid);

    expect(made).toEqual([...made].sort());
    expect(new Set(made).size).toBe(made.length);
  });
});

describe('ulidMs', () => {
  it('is when it was made', () => {
    expect(ulidMs('01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBe(Date.parse('2016-07-30T23:54:10.259Z'));
  });

  it.each(['', '1', 'ILOU------------'])('is unknown of %j', (text) => {
    expect(ulidMs(text)).toBeNaN();
  });
});
