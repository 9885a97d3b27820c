import { readFileSync, readdirSync } from 'node:fs';

/** The processes that a process of this host has started, directly or not. */
export function listDescendants(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && findParent(name) === pid)
    .map(Number);
  return children.flatMap((child) => [child, ...listDescendants(child)]);
}

function findParent(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
