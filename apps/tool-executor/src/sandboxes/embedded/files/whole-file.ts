import { randomBytes } from 'node:crypto';
import { link, rename, rm, writeFile } from 'node:fs/promises';

/** Replaces a file: who reads it finds the old content or the new, and after a kill too. A power cut may still tear it. */
export function replaceFile(path: string, content: string): Promise<void> {
  return throughDraft(path, content, (draft) => rename(draft, path));
}

/** The same for a file that must not exist yet: rejects with `EEXIST`. */
export function createFile(path: string, content: string): Promise<void> {
  return throughDraft(path, content, (draft) => link(draft, path));
}

async function throughDraft(path: string, content: string, place: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o600 });
    await place(draft);
  } finally {
    await rm(draft, { force: true });
  }
}
