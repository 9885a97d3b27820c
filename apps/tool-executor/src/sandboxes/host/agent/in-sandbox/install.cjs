'use strict';
/** Runs the steps of its argument, one after the other, with the way out of a sandbox, and ends with the first that fails. */
const { spawnSync } = require('node:child_process');
const { Worker, isMainThread, workerData } = require('node:worker_threads');
const { startRelay } = require('./relay.cjs');

if (isMainThread) main(JSON.parse(process.argv[2]));
else startRelay(workerData).then(() => require('node:worker_threads').parentPort.postMessage('ready'));

function main({ relay, environment, steps }) {
  new Worker(__filename, { workerData: relay }).once('message', () => {
    for (const [program, ...given] of steps) {
      const { status, error, signal } = spawnSync(program, given, { env: environment, stdio: ['ignore', 1, 1] });
      if (status === 0) continue;
      console.log(error ? `${program}: ${error.message}` : `${program} ended with ${signal ?? status}.`);
      process.exit(1);
    }
    process.exit(0);
  });
}
