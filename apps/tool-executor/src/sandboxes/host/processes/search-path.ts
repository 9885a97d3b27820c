/** PATH inside sandboxes and for the programs that this process runs. Its own PATH is never used. */
export const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
