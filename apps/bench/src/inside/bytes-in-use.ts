import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The file into which a service writes its bytes in use after garbage collection. */
export const bytesInUseFile = (pid: number): string => join(tmpdir(), `rondo-bench-bytes-in-use-${pid}`);
