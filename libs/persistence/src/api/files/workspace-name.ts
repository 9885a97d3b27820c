const longestName = 120;

/**
 * The name of a file in a workspace, from the name that a client gave: without directories, control characters and a leading
 * dot or dash, and short enough for every file system.
 */
export function workspaceName(given: string): string {
  const base = given.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const plain = base
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '') // also invisible characters, which could make two names look the same
    .trim()
    .replace(/^[.-]+/, '');
  return shortened(plain) || 'file';
}

/** File systems count bytes. The extension stays. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= longestName) return name;
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  const characters = Array.from(name.slice(0, name.length - extension.length));
  while (Buffer.byteLength(characters.join('')) > longestName - extension.length) characters.pop();
  return characters.join('') + extension;
}
