import { type FileHandle, open, rm } from 'node:fs/promises';

/**
 * False when the file exists already. A power cut after this leaves it as it is, and a disk that is full leaves no empty one, which
 * would count as created at every later start.
 */
export async function createFile(file: string, content: string): Promise<boolean> {
  const created = await openNew(file);
  if (!created) return false;
  try {
    await created.writeFile(content);
    await created.sync();
    return true;
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await created.close();
  }
}

async function openNew(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined; // Node's own file system errors carry a code.
    throw error;
  }
}
