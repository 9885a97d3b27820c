'use strict';
/**
 * What runs in a sandbox of the test server, as Daytona's daemon does: reads commands as lines of JSON from its input, feeds
 * each to a shell of its own, and writes what came of it. A terminal is a shell that `script` gives a terminal. When it ends, the kernel ends everything else in its namespace.
 */
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');

const report = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

const terminals = new Map();

function openTerminal(terminal) {
  const env = { ...process.env, SHELL: '/bin/bash', TERM: 'xterm' };
  const child = spawn('script', ['-qfe', '/dev/null'], { cwd: '/tmp', env, stdio: ['pipe', 'pipe', 'inherit'] });
  terminals.set(terminal, child);
  child.stdin.on('error', () => undefined);
  child.stdout.on('data', (bytes) => report({ terminal, output: bytes.toString('base64') }));
  child.on('close', (code) => report({ terminal, exitCode: code ?? -1 }));
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, command, cwd, envs, timeout, terminal, input, kill } = JSON.parse(line);
  if (kill) return void terminals.get(terminal)?.kill('SIGKILL');
  if (input !== undefined) return void terminals.get(terminal)?.stdin.write(Buffer.from(input, 'base64'));
  if (terminal !== undefined) return openTerminal(terminal);
  const child = spawn('/bin/bash', { cwd: cwd ?? '/tmp', env: { ...process.env, ...envs }, detached: true });
  const output = [];
  const timer = timeout
    ? setTimeout(() => {
        process.kill(-child.pid, 'SIGKILL');
        report({ id, timedOut: true });
      }, timeout * 1000)
    : undefined;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(bytes));
  child.stdin.on('error', () => undefined); // The shell may end before it has read everything.
  child.stdin.end(command);
  child.on('close', (code) => {
    clearTimeout(timer);
    report({ id, exitCode: code ?? -1, result: Buffer.concat(output).toString() });
  });
});
