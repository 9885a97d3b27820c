import { spawn } from 'node:child_process';

const running = new Set();

const outputAfterEndMs = 2_000;

/** A program that is only tried out hangs if it takes longer, also beside others on a busy machine. */
export const trialLimitMs = 60_000;

/**
 * Runs a program to its end. Resolves with its output; rejects with the end of the output if it fails, or if it is killed
 * because it has not ended after `timeoutMs`. A process that it leaves behind may hold its output open: that is not awaited.
 */
export function run(file, args, { timeoutMs, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const output = { stdout: '', stderr: '' };
    let isLate = false;
    const limit = timeoutMs && setTimeout(() => (isLate = child.kill('SIGKILL')), timeoutMs);
    running.add(child);
    child.stdout.on('data', (chunk) => (output.stdout += chunk));
    child.stderr.on('data', (chunk) => (output.stderr += chunk));
    child.on('error', reject);
    child.on('exit', () => {
      clearTimeout(limit);
      setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), outputAfterEndMs).unref();
    });
    child.on('close', (code, signal) => {
      running.delete(child);
      const ending = isLate ? `${signal} after ${timeoutMs / 1000} s` : (signal ?? `code ${code}`);
      if (code === 0) resolve(output);
      else reject(new ProgramError({ program: [file, ...args].join(' '), ending, ...output }));
    });
  });
}

/** Ends the running programs, if the command that started them ends early. */
export function endRunningPrograms() {
  for (const child of running) child.kill('SIGTERM');
}

export class ProgramError extends Error {
  constructor({ program, ending, stdout, stderr }) {
    const lastLines = `${stdout}\n${stderr}`.trim().split('\n').slice(-30).join('\n');
    super(`${program} ended with ${ending}\n${lastLines}`);
    this.name = 'ProgramError';
    this.stdout = stdout;
    this.stderr = stderr;
  }
}
