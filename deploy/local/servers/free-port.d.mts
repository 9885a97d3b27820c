/** A free port, not the same twice within a process. */
export function choosePort(preferred?: number, host?: string): Promise<number>;
