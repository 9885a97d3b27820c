/** The directory to which the profiled process writes its profile. */
export const profileDirectory = process.env['BENCH_PROFILE_DIRECTORY'] ?? '.';
