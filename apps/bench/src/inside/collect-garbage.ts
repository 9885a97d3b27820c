import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { bytesInUseFile } from './bytes-in-use';

/** Loaded into a service before its own code: SIGUSR2 collects all garbage and writes down how many bytes are left. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void; // a context made from now on has it

process.on('SIGUSR2', () => {
  collect(); // with an argument it would collect only what is young
  const { heapUsed, external } = process.memoryUsage();
  const file = bytesInUseFile(process.pid);
  writeFileSync(`${file}.new`, String(heapUsed + external));
  renameSync(`${file}.new`, file);
});
