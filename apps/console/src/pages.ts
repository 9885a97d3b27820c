import type { Scope } from './session/use-session.ts';

/** The pages of the console. On a phone the first ones are in the bar, and the others behind “More”. */
export const pages = [
  { to: '/runs', name: 'Runs', scope: 'read' },
  { to: '/inbox', name: 'Inbox', scope: 'read' },
  { to: '/threads', name: 'Threads', scope: 'read' },
  { to: '/agents', name: 'Agents', scope: 'read' },
  { to: '/schedules', name: 'Schedules', scope: 'read' },
  { to: '/sandboxes', name: 'Sandboxes', scope: 'read' },
  { to: '/usage', name: 'Usage', scope: 'read' },
  { to: '/keys', name: 'Keys', scope: 'admin' },
  { to: '/health', name: 'Health', scope: 'operator' },
] as const;

export type PageEntry = (typeof pages)[number];

/** Pages below those that need more. Their forms would be refused when they are sent. */
const forms: readonly { readonly to: string; readonly scope: Scope }[] = [
  { to: '/runs/new', scope: 'write' },
  { to: '/threads/new', scope: 'write' },
  { to: '/agents/new', scope: 'write' },
];

/** The scope without which a page has nothing to offer. */
export const findNeededScope = (pathname: string): Scope =>
  [...forms, ...pages].find(({ to }) => pathname === to || pathname.startsWith(`${to}/`))?.scope ?? 'read';
