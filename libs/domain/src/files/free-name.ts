/** `name`, or `name-2`, `name-3` … before its extension, whichever comes first of those that are not taken. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${stem}-${count}${extension}`;
    if (!isTaken(candidate)) return candidate;
  }
}
