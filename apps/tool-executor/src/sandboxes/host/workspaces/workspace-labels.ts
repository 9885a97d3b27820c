import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { SandboxLabels } from '../../provider/sandbox-provider';

const label = z.string().max(200).exactOptional();
const storedLabels = z.object({ install: label, account: label, thread: label, run: label, epoch: label });

const fileIn = (home: string): string => join(home, 'labels.json');

export const writeLabels = (home: string, labels: SandboxLabels): Promise<void> =>
  writeFile(fileIn(home), JSON.stringify(labels), { mode: 0o600 });

/** A workspace of an older version has none, and a crash may have torn the file: then there are none. */
export async function readLabels(home: string): Promise<SandboxLabels> {
  const text = await readFile(fileIn(home), 'utf8').catch(() => '{}');
  try {
    return storedLabels.parse(JSON.parse(text));
  } catch {
    return {};
  }
}
