import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a service that was told to collect its garbage writes how much is left. */
export const bytesInUseFile = (pid: number): string => join(tmpdir(), `rondo-bench-bytes-in-use-${pid}`);
