/** Of the tools that act in the browser of the sandbox: a start of the browser, the action, and a look at the page. */
export const inBrowser = {
  runsIn: 'executor',
  exclusive: 'browser',
  timeoutMs: 90_000,
  group: 'web',
  needs: 'browser',
} as const;
