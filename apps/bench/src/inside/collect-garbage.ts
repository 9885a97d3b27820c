import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { bytesInUseFile } from './config';

/** Loaded into a service before its own code: on SIGUSR2 it collects all garbage and writes the bytes in use to a file. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void; // only contexts created after the flag have it

process.on('SIGUSR2', () => {
  collect(); // with an argument it would collect only the young generation
  const { heapUsed, external } = process.memoryUsage();
  const file = bytesInUseFile(process.pid);
  writeFileSync(`${file}.new`, String(heapUsed + external));
  renameSync(`${file}.new`, file);
});
