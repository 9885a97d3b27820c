'use strict';
/**
 * What runs in a sandbox of the test server, as Daytona's daemon does: reads commands as lines of JSON from its input, feeds
 * each to a shell of its own, and writes what came of it. When it ends, the kernel ends everything else in its namespace.
 */
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');

const report = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, command, cwd, envs, timeout } = JSON.parse(line);
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
