import { type RondoClient, scriptInput } from '@rondo/test-deployment';

/** A request that a client may send, although none of the suites does. Without a body it is a GET. */
export interface Odd {
  readonly path: string;
  readonly method?: string;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is asked, the status of the answer, and what a refusal names. */
export type Row = readonly [what: string, odd: Odd, status: number, named?: string];

async function ask({ url, key }: RondoClient, { path, body, method, headers }: Odd): Promise<[number, string]> {
  const response = await fetch(`${url}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return [response.status, await response.text()];
}

/** Each is answered with what it wants, or refused by name in the form of its façade: never ignored, and never with a failure. */
export function itAnswers(
  rows: readonly Row[],
  client: () => RondoClient,
  readMessage: (text: string) => unknown,
): void {
  it.each(rows.map(([what, odd, status, named]) => ({ what, odd, status, named })))(
    'is answered when it sends $what',
    async ({ odd, status, named }) => {
      const [given, text] = await ask(client(), odd);
      expect([given, given === status ? '' : text]).toEqual([status, '']);
      if (named === undefined) return;
      expect(readMessage(text)).toEqual(expect.any(String));
      expect(text).toContain(named);
    },
  );
}

export const model = 'demo/scripted';
export const said = (text: string) => scriptInput(text, [{ text: 'Done.' }]).input;
export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const veryLong = 'word '.repeat(600_000);
export const notJson = '{"model": ';
/** No database takes it in a text. */
export const withZero = 'a\u0000b';
export const tooManyEntries = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'x']));
