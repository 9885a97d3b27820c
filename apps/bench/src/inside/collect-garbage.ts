import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loaded into a service before its own code: SIGUSR2 collects all garbage, so that what is left is what is needed. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void; // a context made from now on has it

process.on('SIGUSR2', () => collect()); // with an argument it would collect only what is young
