import { open } from 'node:fs/promises';

/** A power cut after this leaves the file, or the directory's names, as they are. */
export async function flush(path: string): Promise<void> {
  const opened = await open(path, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
