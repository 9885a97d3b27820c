/** How a host may write back what it was sent: as it is, in a URL, in JSON, or in Base64, each also among other text. */
export const toForms = (value: string, username?: string): readonly string[] => [
  ...new Set([
    value,
    ...urlForms(value),
    ...jsonForms(value),
    ...base64Forms(Buffer.from(value)),
    ...(username === undefined ? [] : [Buffer.from(`${username}:${value}`).toString('base64')]),
  ]),
];

const toHex = (character: string, length: number): string =>
  character.charCodeAt(0).toString(16).padStart(length, '0').toUpperCase();

/** Which characters are escaped, and in which case, differs: as browsers do it, as RFC 3986 says, in forms, and in paths. */
function urlForms(value: string): string[] {
  const usual = encodeURIComponent(value);
  const strict = usual.replaceAll(/[!'()*]/g, (character) => `%${toHex(character, 2)}`);
  const ofForm = new URLSearchParams({ value }).toString().slice('value='.length);
  const forms = [usual, strict, ofForm, strict.replaceAll('%20', '+')];
  const withPaths = forms.flatMap((form) => [form, form.replaceAll('%2F', '/')]);
  return withPaths.flatMap((form) => [form, form.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())]);
}

/** What writers of JSON put a stroke before, and what they write as a number, so that it can stand in HTML. */
const jsonWriters = [
  { escaped: '"\\', coded: '' },
  { escaped: '"\\/', coded: '' }, // PHP
  { escaped: '"\\', coded: '<>&' }, // Go
  { escaped: '"\\', coded: "<>&='" }, // Gson
  { escaped: '\\', coded: '<>&+\'"`' }, // .NET
];

const jsonForms = (value: string): string[] =>
  jsonWriters.flatMap(({ escaped, coded }) => {
    const write = (toDigits: (hex: string) => string) =>
      Array.from(value, (character) => {
        if (escaped.includes(character)) return `\\${character}`;
        return coded.includes(character) ? `\\u${toDigits(toHex(character, 4))}` : character;
      }).join('');
    return [write((hex) => hex), write((hex) => hex.toLowerCase())];
  });

/** Whole, and what is the same wherever it begins within three bytes of other text. */
function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString('base64');
  const among = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  return [whole, whole.replace(/=+$/, ''), ...among].flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}
