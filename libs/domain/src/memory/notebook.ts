import type { z } from 'zod';
import { type NewMessage, type ToolResult, failedResult } from '@rondo/contract';
import { simpleMemory } from '../tools/memory.tools';
import { succeededCalls } from './past-calls';

type Entry = z.infer<typeof simpleMemory.input>;

/** The notebook is derived from its successful writes and edits in the thread. */
export function useNotebook(entry: Entry, conversation: readonly NewMessage[]): ToolResult {
  const text = notebookOf(conversation);
  switch (entry.action) {
    case 'read':
      return done(text === '' ? '(The notebook is empty.)' : text);
    case 'write':
      if (entry.content === undefined) return failedResult('"write" needs content.');
      return done(text === '' ? 'Written.' : `Written. It replaced what stood there before:\n${text}`);
    case 'edit':
      return edit(entry, text);
  }
}

function edit({ old_string: before, new_string: after }: Entry, text: string): ToolResult {
  if (!before || after === undefined) return failedResult('"edit" needs old_string and new_string.');
  const times = text.split(before).length - 1;
  if (times === 0) return failedResult('old_string does not occur in the notebook.');
  if (times > 1) return failedResult(`old_string occurs ${times} times in the notebook; it must occur exactly once.`);
  return done('Edited.');
}

const notebookOf = (conversation: readonly NewMessage[]): string =>
  succeededCalls(simpleMemory.name, conversation).reduce((text, given) => {
    const entry = simpleMemory.input.safeParse(given);
    return entry.success ? after(text, entry.data) : text;
  }, '');

function after(text: string, entry: Entry): string {
  switch (entry.action) {
    case 'read':
      return text;
    case 'write':
      return entry.content ?? text;
    case 'edit':
      return text.split(entry.old_string ?? '').join(entry.new_string ?? '');
  }
}

const done = (output: string): ToolResult => ({ success: true, output });
