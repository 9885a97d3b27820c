/** The name of an image as engines understand it, with its registry. */
export interface ImageReference {
  readonly name: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** `python:3.12` is `docker.io/library/python` with the tag 3.12, as for Docker. */
export function parseImageReference(text: string): ImageReference {
  const [rest = '', digest] = text.split('@');
  const colon = rest.lastIndexOf(':');
  const isTag = colon > rest.lastIndexOf('/');
  return {
    name: withRegistry(isTag ? rest.slice(0, colon) : rest),
    tag: isTag ? rest.slice(colon + 1) : undefined,
    digest,
  };
}

function withRegistry(path: string): string {
  const [first = '', ...others] = path.split('/');
  if (others.length > 0 && (/[.:]/.test(first) || first === 'localhost')) {
    return first === 'docker.io' && others.length === 1 ? `docker.io/library/${others[0]}` : path;
  }
  return others.length === 0 ? `docker.io/library/${path}` : `docker.io/${path}`;
}

/** A digest says what the image is, so a tag beside it says nothing. */
export const toEngineName = ({ name, tag = 'latest', digest }: ImageReference): string =>
  digest === undefined ? `${name}:${tag}` : `${name}@${digest}`;

export const isSameImage = (one: string, other: string): boolean =>
  toEngineName(parseImageReference(one)) === toEngineName(parseImageReference(other));

/** `ghcr.io/you/*` allows what is below it; a name all its tags and digests; with a tag or a digest only that. */
export function isAllowedImage(text: string, allowed: readonly string[]): boolean {
  const asked = parseImageReference(text);
  return allowed.some((entry) => {
    if (entry.endsWith('/*')) return asked.name.startsWith(withRegistry(entry.slice(0, -1)));
    const { name, tag, digest } = parseImageReference(entry);
    if (asked.name !== name) return false;
    if (digest !== undefined) return asked.digest === digest;
    return tag === undefined || (asked.digest === undefined && (asked.tag ?? 'latest') === tag);
  });
}
