/** Where the process that this was loaded into writes its profile. */
export const profileDirectory = process.env['BENCH_PROFILE_DIRECTORY'] ?? '.';
