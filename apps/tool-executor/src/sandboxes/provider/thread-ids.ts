import { SandboxError } from './sandbox-error';

const pattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Whether it can name a directory, a label or a container. */
export const isThreadId = (text: string): boolean => pattern.test(text);

export function requireThreadId(text: string): void {
  if (!isThreadId(text)) throw new SandboxError('invalid_request', 'This is not a thread id.');
}
