/** The directory to which the profiled process writes its profile. */
export const profileDirectory = process.env['BENCH_PROFILE_DIRECTORY'] ?? '.';

/** The directory to which the traced process writes its notes. */
export const traceDirectory = process.env['BENCH_TRACE_DIRECTORY'] ?? '.';
