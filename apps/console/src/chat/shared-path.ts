const form = /\/console\/shared\/(thr_\w+)\/?$/;

/** The address of a shared thread, on whichever gateway. */
export const toSharedPath = (threadId: string): string => `/console/shared/${threadId}`;

/** The thread that an address shows to everyone. Undefined: it is another page. */
export const readSharedThread = (pathname: string): string | undefined => form.exec(pathname)?.[1];
