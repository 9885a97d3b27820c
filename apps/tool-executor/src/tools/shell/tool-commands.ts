/** One word of a shell command, whatever characters it has. */
export const shellQuoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** A session for the commands of tools. No model can name it, so that nothing which a model exports reaches them. */
export const privateSession = 'rondo:tools';
