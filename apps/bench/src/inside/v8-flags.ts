import { createRequire } from 'node:module';
import { v8Flags } from './config';

/** Loaded into a service before its own code: the flags of the benchmark are set after those that the service sets once it has started. */
const v8 = createRequire(__filename)('node:v8') as { setFlagsFromString: (flag: string) => void }; // an import could not be changed
const { setFlagsFromString } = v8;

v8.setFlagsFromString = (flag) => {
  setFlagsFromString(flag);
  for (const other of v8Flags) setFlagsFromString(other);
};
