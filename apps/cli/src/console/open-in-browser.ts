import { spawn } from 'node:child_process';

const programs: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' };

/** Where it cannot be opened, the printed link remains. */
export function openInBrowser(link: string): void {
  const program = programs[process.platform] ?? 'xdg-open';
  const child = spawn(program, [link], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
