import { spawn } from 'node:child_process';

/** Runs a program to its end and resolves with what it printed; rejects with the end of it when it fails. */
export function run(file, args, options = {}) {
  const { timeoutMs, input, ...spawnOptions } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      timeout: timeoutMs,
      ...spawnOptions,
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (output.stdout += chunk));
    child.stderr.on('data', (chunk) => (output.stderr += chunk));
    child.stdin?.end(input);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(output);
      reject(new ProgramError({ program: [file, ...args].join(' '), code, signal, ...output }));
    });
  });
}

export class ProgramError extends Error {
  constructor({ program, code, signal, stdout, stderr }) {
    const lastLines = `${stdout}\n${stderr}`.trim().split('\n').slice(-8).join('\n');
    super(`${program} ended with ${signal ?? `code ${code}`}\n${lastLines}`);
    this.name = 'ProgramError';
    Object.assign(this, { code, signal, stdout, stderr });
  }
}
