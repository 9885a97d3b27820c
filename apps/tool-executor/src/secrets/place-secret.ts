import type { SecretPlacement } from '@rondo/contract';

/** What of a request may carry a placeholder: its target with the query, and its headers in order. */
export interface RequestHead {
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Whether the text of a placeholder is anywhere in the head, also inside of the credentials of a user. */
export const hasPlaceholder = ({ target, headers }: RequestHead, placeholder: string): boolean =>
  target.includes(placeholder) ||
  headers.some(([, value]) => value.includes(placeholder) || readBasic(value)?.includes(placeholder) === true);

/**
 * The head with the value where the secret says that it goes. Undefined where the placeholder stands elsewhere, or also
 * elsewhere: the value is put nowhere then.
 */
export function placeSecret(
  head: RequestHead,
  placeholder: string,
  { value, placement }: { readonly value: string; readonly placement: SecretPlacement },
): RequestHead | undefined {
  const placed = placeAt(head, placeholder, { value, placement });
  return hasPlaceholder(placed, placeholder) ? undefined : placed;
}

function placeAt(
  head: RequestHead,
  placeholder: string,
  { value, placement }: { readonly value: string; readonly placement: SecretPlacement },
): RequestHead {
  switch (placement.in) {
    case 'header': {
      const { name, prefix } = placement;
      return mapHeader(head, name, (text) => {
        if (!text.includes(placeholder)) return text;
        return prefix === undefined ? text.replaceAll(placeholder, () => value) : `${prefix}${value}`;
      });
    }
    case 'query':
      return { ...head, target: placeInQuery(head.target, placeholder, { name: placement.name, value }) };
    case 'basic': {
      const credentials = Buffer.from(`${placement.username}:${value}`).toString('base64');
      return mapHeader(head, 'authorization', (text) =>
        readBasic(text)?.includes(placeholder) === true ? `Basic ${credentials}` : text,
      );
    }
  }
}

const mapHeader = (head: RequestHead, name: string, change: (value: string) => string): RequestHead => ({
  ...head,
  headers: head.headers.map(([given, value]) =>
    given.toLowerCase() === name.toLowerCase() ? ([given, change(value)] as const) : ([given, value] as const),
  ),
});

function placeInQuery(
  target: string,
  placeholder: string,
  { name, value }: { readonly name: string; readonly value: string },
): string {
  const [path = '', ...query] = target.split('?');
  if (query.length === 0) return target;
  const fields = query
    .join('?')
    .split('&')
    .map((field) => {
      const [key, ...rest] = field.split('=');
      const isIt = decodeText(key ?? '') === name && decodeText(rest.join('=')) === placeholder;
      return isIt ? `${key}=${encodeURIComponent(value)}` : field;
    });
  return `${path}?${fields.join('&')}`;
}

function decodeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** `user:password` of a header of the scheme Basic. */
const readBasic = (value: string): string | undefined => {
  const [, credentials] = /^basic +([A-Za-z0-9+/=]+)$/i.exec(value.trim()) ?? [];
  return credentials === undefined ? undefined : Buffer.from(credentials, 'base64').toString('utf8');
};
