import { spawn } from 'node:child_process';

const running = new Set();

/** Runs a program to its end. Resolves with its output; rejects with the end of the output if it fails. */
export function run(file, args, { timeoutMs, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs, ...options });
    const output = { stdout: '', stderr: '' };
    running.add(child);
    child.stdout.on('data', (chunk) => (output.stdout += chunk));
    child.stderr.on('data', (chunk) => (output.stderr += chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      running.delete(child);
      if (code === 0) resolve(output);
      else
        reject(new ProgramError({ program: [file, ...args].join(' '), ending: signal ?? `code ${code}`, ...output }));
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
