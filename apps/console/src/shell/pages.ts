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
  { to: '/health', name: 'Health', scope: 'admin' },
] as const;

export type PageEntry = (typeof pages)[number];
