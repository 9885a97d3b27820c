/** One word of a shell command, whatever characters it has. */
export const shellQuoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
