import { readFile } from 'node:fs/promises';

const memoryCheckMs = 100;
const pageBytes = 4096;

/** The heap is limited by Node; this limits what a process allocates beside it. Without /proc there is only the heap's limit. */
export function watchMemory(pid: number | undefined, memoryBytes: number, kill: () => void): NodeJS.Timeout {
  const look = async () => {
    const statm = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '');
    const resident = Number(statm.split(' ')[1] ?? 0) * pageBytes;
    if (resident > memoryBytes) kill();
  };
  return setInterval(() => void look(), memoryCheckMs);
}
