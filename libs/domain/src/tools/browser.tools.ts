import { z } from 'zod';
import { defineTool } from './define-tool';

/** Of the tools that act in the browser of the sandbox: a start of the browser, the action, and a look at the page. */
const inBrowser = {
  runsIn: 'executor',
  exclusive: 'browser',
  timeoutMs: 90_000,
  group: 'web',
  needs: 'browser',
} as const;

const longestWaitS = 30;

const index = z.number().int().min(0).max(9_999).describe('Number of the element, as the last answer listed it.');
const coordinate = z.number().min(0).max(10_000);
const amount = z.number().int().min(1).max(100_000).optional().describe('Pixels; without it one screen.');

export const browserNavigateTo = defineTool({
  name: 'browser_navigate_to',
  description:
    'Open a page in the browser of the sandbox. Every browser tool answers with what is on the screen: the text, and the ' +
    'elements that can be used, numbered. The browser reaches public sites and servers in the sandbox (http://localhost:…).',
  input: z.strictObject({ url: z.string().min(1).max(8_000) }),
  powers: ['reaches_out'],
  effect: 'idempotent',
  ...inBrowser,
  example: { url: 'https://example.org' },
  xml: { content: 'url' },
});

export const browserGoBack = defineTool({
  name: 'browser_go_back',
  description: 'Go back to the page before, in the active tab of the browser.',
  input: z.strictObject({}),
  effect: 'unsafe',
  ...inBrowser,
});

export const browserWait = defineTool({
  name: 'browser_wait',
  description: 'Wait, then look at the page in the browser again.',
  input: z.strictObject({ seconds: z.number().min(0).max(longestWaitS).default(3) }),
  effect: 'pure',
  ...inBrowser,
  timeoutMs: inBrowser.timeoutMs + longestWaitS * 1_000,
});

export const browserClickElement = defineTool({
  name: 'browser_click_element',
  description: 'Click a numbered element of the page. It is scrolled into view first.',
  input: z.strictObject({ index }),
  effect: 'unsafe',
  ...inBrowser,
});

export const browserClickCoordinates = defineTool({
  name: 'browser_click_coordinates',
  description:
    'Click at a point of the screen, in pixels from its left and upper edge. The screen is 1280 wide, 800 high.',
  input: z.strictObject({ x: coordinate, y: coordinate }),
  effect: 'unsafe',
  ...inBrowser,
});

export const browserInputText = defineTool({
  name: 'browser_input_text',
  description: 'Replace what is in a numbered field of the page by a text, typed like a person would.',
  input: z.strictObject({ index, text: z.string().max(50_000) }),
  effect: 'unsafe',
  ...inBrowser,
  xml: { content: 'text' },
});

export const browserEnterText = defineTool({
  name: 'browser_enter_text',
  description: 'Replace what is in the field that was clicked last by a text, and press Enter if wanted.',
  input: z.strictObject({ text: z.string().max(50_000), press_enter: z.boolean().default(false) }),
  effect: 'unsafe',
  ...inBrowser,
  xml: { content: 'text' },
});

export const browserSendKeys = defineTool({
  name: 'browser_send_keys',
  description: 'Press keys in the browser, one after the other: "Enter", "Control+a Delete", "Tab Tab Space".',
  input: z.strictObject({ keys: z.string().trim().min(1).max(500) }),
  effect: 'unsafe',
  ...inBrowser,
  xml: { content: 'keys' },
});

export const browserScrollDown = defineTool({
  name: 'browser_scroll_down',
  description: 'Scroll the page down, or the part of it at the centre of the screen.',
  input: z.strictObject({ amount }),
  effect: 'unsafe',
  ...inBrowser,
});

export const browserScrollUp = defineTool({
  name: 'browser_scroll_up',
  description: 'Scroll the page up, or the part of it at the centre of the screen.',
  input: z.strictObject({ amount }),
  effect: 'unsafe',
  ...inBrowser,
});

export const browserScrollToText = defineTool({
  name: 'browser_scroll_to_text',
  description: 'Scroll to the first place of the page that has a text.',
  input: z.strictObject({ text: z.string().trim().min(1).max(1_000) }),
  effect: 'idempotent',
  ...inBrowser,
  xml: { content: 'text' },
});

export const browserGetDropdownOptions = defineTool({
  name: 'browser_get_dropdown_options',
  description: 'List the options of a numbered dropdown list of the page.',
  input: z.strictObject({ index }),
  effect: 'pure',
  ...inBrowser,
});

export const browserSelectDropdownOption = defineTool({
  name: 'browser_select_dropdown_option',
  description: 'Choose an option of a numbered dropdown list, by its text or by its number.',
  input: z
    .strictObject({
      index,
      text: z.string().min(1).max(1_000).optional(),
      option: z.number().int().min(0).max(9_999).optional().describe('Its number, as the options were listed.'),
    })
    .refine(({ text, option }) => (text === undefined) !== (option === undefined), { message: 'needs text or option' }),
  effect: 'unsafe',
  ...inBrowser,
  xml: { content: 'text' },
});

export const browserDragDrop = defineTool({
  name: 'browser_drag_drop',
  description: 'Drag with the mouse, from a numbered element or a point of the screen to another.',
  input: z
    .strictObject({
      element_source: index.optional(),
      element_target: index.optional(),
      coord_source_x: coordinate.optional(),
      coord_source_y: coordinate.optional(),
      coord_target_x: coordinate.optional(),
      coord_target_y: coordinate.optional(),
    })
    .refine((given) => hasEnd(given, 'source') && hasEnd(given, 'target'), {
      message: 'needs a source and a target, each as an element or as both coordinates',
    }),
  effect: 'unsafe',
  ...inBrowser,
});

function hasEnd(given: Readonly<Record<string, number | undefined>>, end: 'source' | 'target'): boolean {
  const hasPoint = given[`coord_${end}_x`] !== undefined && given[`coord_${end}_y`] !== undefined;
  return given[`element_${end}`] !== undefined || hasPoint;
}

const pageId = z.number().int().positive().describe('Number of the tab, as the last answer listed it.');
const anotherName = (name: string) => `Another name of ${name}.`;

const browserRestart = defineTool({
  name: 'browser_restart',
  description: 'Start the browser again, without its tabs and cookies, and open a page.',
  input: z.strictObject({ url: z.string().min(1).max(8_000) }),
  powers: ['reaches_out'],
  effect: 'idempotent',
  ...inBrowser,
  xml: { content: 'url' },
});

const browserOpenNewTab = defineTool({
  name: 'browser_open_new_tab',
  description: 'Open an empty tab of the browser, which is the active one then.',
  input: z.strictObject({}),
  effect: 'unsafe',
  ...inBrowser,
});

const browserSwitchTab = defineTool({
  name: 'browser_switch_tab',
  description: 'Make another tab of the browser the active one.',
  input: z
    .strictObject({ page_id: pageId.optional(), index: pageId.optional().describe(anotherName('page_id')) })
    .refine(({ page_id, index }) => (page_id === undefined) !== (index === undefined), { message: 'needs page_id' }),
  effect: 'idempotent',
  ...inBrowser,
});

const browserCloseTab = defineTool({
  name: 'browser_close_tab',
  description: 'Close a tab of the browser.',
  input: z.strictObject({ page_id: pageId }),
  effect: 'idempotent',
  ...inBrowser,
});

/** The tools that start and end pages of the browser. */
const browserTabTools = [browserRestart, browserOpenNewTab, browserSwitchTab, browserCloseTab] as const;

/** The tools that act on the browser of a sandbox. */
export const browserTools = [
  browserNavigateTo,
  browserGoBack,
  browserWait,
  browserClickElement,
  browserClickCoordinates,
  browserInputText,
  browserEnterText,
  browserSendKeys,
  ...browserTabTools,
  browserScrollDown,
  browserScrollUp,
  browserScrollToText,
  browserGetDropdownOptions,
  browserSelectDropdownOption,
  browserDragDrop,
] as const;
