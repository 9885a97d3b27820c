import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The directory to which the profiled process writes its profile. */
export const profileDirectory = process.env['BENCH_PROFILE_DIRECTORY'] ?? '.';

/** What V8 is to do in the process, beside or against what the service sets itself. */
export const v8Flags = (process.env['BENCH_V8_FLAGS'] ?? '').split(' ').filter((flag) => flag !== '');

/** The directory to which the traced process writes its notes. */
export const traceDirectory = process.env['BENCH_TRACE_DIRECTORY'] ?? '.';

/** The file into which a service writes its bytes in use after garbage collection. */
export const bytesInUseFile = (pid: number): string => join(tmpdir(), `rondo-bench-bytes-in-use-${pid}`);
