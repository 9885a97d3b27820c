import type { ToolCallRow } from '@rondo/client';
import type { Step } from '../turns.ts';

/** What a call did to a text file. */
export interface FileChange {
  readonly path: string;
  /** The text before, as earlier calls of the conversation have made it. Null: it is not known, or there was no file. */
  readonly before: string | null;
  /** The text afterwards. Null: the call only read the file. */
  readonly after: string | null;
  /** Whether `before` and `after` are the parts that were exchanged, since the whole is not known. */
  readonly isPart: boolean;
}

/** The change by the last of these steps. The others are those before it, which tell what the file was like. */
export function toFileChange(steps: readonly Step[]): FileChange | undefined {
  const texts = new Map<string, string>();
  let last: FileChange | undefined;
  for (const { row } of steps) {
    last = readChange(row, texts);
    if (!last || row.status !== 'completed' || row.result?.success === false) continue;
    if (last.after !== null && !last.isPart) texts.set(last.path, last.after);
    else if (last.isPart) texts.delete(last.path);
  }
  return last;
}

function readChange(row: ToolCallRow, texts: ReadonlyMap<string, string>): FileChange | undefined {
  const given = (...names: string[]): string | undefined => {
    const value = names.map((name) => row.arguments?.[name]).find((one) => typeof one === 'string');
    return typeof value === 'string' ? value : undefined;
  };
  const path = given('file_path', 'path')?.replace(/^(\/workspace\/|\.\/)+/, '');
  if (path === undefined) return undefined;
  const known = texts.get(path) ?? null;
  const [old, replacement] = [given('old_str'), given('new_str')];
  if (old !== undefined && old !== '') {
    const after = known?.includes(old) === true ? known.replace(old, () => replacement ?? '') : undefined;
    if (after === undefined) return { path, before: old, after: replacement ?? '', isPart: true };
    return { path, before: known, after, isPart: false };
  }
  const whole = given('file_contents', 'file_text', 'content', 'code', 'plan');
  return { path, before: known, after: whole ?? null, isPart: false };
}
