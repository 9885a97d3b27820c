const anyId = /\b(run|thr|msg|call|evt)_[0-9A-HJKMNP-TV-Z]{26}(\d*)\b/g;

/** Messages without what may differ between two runs of one script: ids, names and the order of parallel results. */
export const comparable = (
  messages: readonly { readonly type: string; readonly content: unknown }[],
  tag: string,
): string[] =>
  messages
    .map(({ type, content }) => `${type} ${JSON.stringify(content).replaceAll(tag, 'TAG').replaceAll(anyId, '$1$2')}`)
    .toSorted();

/** The same without tool results, which is all that may differ after an unknown call. */
export const withoutAnswers = (lines: readonly string[]): string[] => lines.filter((line) => !line.startsWith('tool '));
