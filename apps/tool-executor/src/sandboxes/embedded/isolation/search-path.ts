/** Where programs are looked for, within sandboxes and for those that we run ourselves: never where our own environment says. */
export const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
