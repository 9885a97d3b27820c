/** A file as the page can show it. */
export type FileContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'picture'; readonly picture: Blob }
  | { readonly kind: 'bytes' };

/** More than this is downloaded and not shown. */
export const mostShownBytes = 1024 * 1024;

const pictures: readonly (readonly [type: string, begins: string])[] = [
  ['image/png', '\u0089PNG'],
  ['image/jpeg', '\u00ff\u00d8\u00ff'],
  ['image/gif', 'GIF8'],
];

/** What the bytes are, whatever the name says. SVG is text, because it can contain scripts. */
export function toContent(bytes: Uint8Array<ArrayBuffer>): FileContent {
  const start = Array.from(bytes.subarray(0, 12), (byte) => String.fromCharCode(byte)).join('');
  const isWebp = start.startsWith('RIFF') && start.endsWith('WEBP');
  const type = isWebp ? 'image/webp' : pictures.find(([, begins]) => start.startsWith(begins))?.[0];
  if (type !== undefined) return { kind: 'picture', picture: new Blob([bytes], { type }) };
  if (bytes.includes(0)) return { kind: 'bytes' };
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { kind: 'bytes' }; // it is not UTF-8
  }
}

/** The path of an entry of a directory of the workspace. */
export const joinPath = (directory: string, name: string): string => (directory === '' ? name : `${directory}/${name}`);

export const toName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
export const toDirectory = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
