import { z } from 'zod';
import { defineTool } from './define-tool';
import { inBrowser } from './in-browser';

const pageId = z.number().int().positive().describe('Number of the tab, as the last answer listed it.');
const anotherName = (name: string) => `Another name of ${name}.`;

export const browserRestart = defineTool({
  name: 'browser_restart',
  description: 'Start the browser again, without its tabs and cookies, and open a page.',
  input: z.strictObject({ url: z.string().min(1).max(8_000) }),
  powers: ['reaches_out'],
  effect: 'idempotent',
  ...inBrowser,
  xml: { content: 'url' },
});

export const browserOpenNewTab = defineTool({
  name: 'browser_open_new_tab',
  description: 'Open an empty tab of the browser, which is the active one then.',
  input: z.strictObject({}),
  effect: 'unsafe',
  ...inBrowser,
});

export const browserSwitchTab = defineTool({
  name: 'browser_switch_tab',
  description: 'Make another tab of the browser the active one.',
  input: z
    .strictObject({ page_id: pageId.optional(), index: pageId.optional().describe(anotherName('page_id')) })
    .refine(({ page_id, index }) => (page_id === undefined) !== (index === undefined), { message: 'needs page_id' }),
  effect: 'idempotent',
  ...inBrowser,
});

export const browserCloseTab = defineTool({
  name: 'browser_close_tab',
  description: 'Close a tab of the browser.',
  input: z.strictObject({ page_id: pageId }),
  effect: 'idempotent',
  ...inBrowser,
});

/** The tools that start and end pages of the browser. */
export const browserTabTools = [browserRestart, browserOpenNewTab, browserSwitchTab, browserCloseTab] as const;
