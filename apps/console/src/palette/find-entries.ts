/** Something to go to. */
export interface Entry {
  readonly to: string;
  readonly name: string;
  readonly kind: 'Page' | 'Thread' | 'Run';
}

const most = 12;

/** The entries that have all of these words, those whose name begins with them first. */
export function findEntries(entries: readonly Entry[], words: string): readonly Entry[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter(({ to, name, kind }) => {
    const text = `${kind} ${name} ${to}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const begins = ({ name }: Entry) => name.toLowerCase().startsWith(wanted.join(' '));
  return [...found.filter(begins), ...found.filter((entry) => !begins(entry))].slice(0, most);
}
