import { z } from 'zod';
import { defineTool } from './define-tool';

/**
 * What the tools that act in the browser of the sandbox share. Their time is for a start of the browser, the action and a look at
 * the page.
 */
const inBrowser = {
  runsIn: 'executor',
  exclusive: 'browser',
  timeoutMs: 90_000,
  group: 'web',
  needs: 'browser',
} as const;

const longestWaitS = 30;

/** `browser_navigate_to` says what it is. */
const index = z.number().int().min(0).max(9_999);
const coordinate = z.number().min(0).max(10_000);
const amount = z.number().int().min(1).max(100_000).optional().describe('Pixels; default: one screen.');

export const browserNavigateTo = defineTool({
  name: 'browser_navigate_to',
  description:
    'Open a page in the browser, of a public site or of a server in the sandbox (http://localhost:…). Every browser tool ' +
    'answers with what is on the screen: the text, and the elements and tabs with their numbers, by which they are used.',
  input: z.strictObject({ url: z.string().min(1).max(8_000) }),
  powers: ['reaches_out'],
  effect: 'idempotent',
  ...inBrowser,
  example: { url: 'https://example.org' },
  xml: { content: 'url' },
});

export const browserGoBack = defineTool({
  name: 'browser_go_back',
  description: 'Go back to the page before.',
  input: z.strictObject({}),
  effect: 'unsafe',
  ...inBrowser,
});

export const browserWait = defineTool({
  name: 'browser_wait',
  description: 'Wait, then look at the page again.',
  input: z.strictObject({ seconds: z.number().min(0).max(longestWaitS).default(3) }),
  effect: 'pure',
  ...inBrowser,
  timeoutMs: inBrowser.timeoutMs + longestWaitS * 1_000,
});

export const browserClickElement = defineTool({
  name: 'browser_click_element',
  description: 'Click an element, also out of view.',
  input: z.strictObject({ index }),
  effect: 'unsafe',
  ...inBrowser,
});

export const browserClickCoordinates = defineTool({
  name: 'browser_click_coordinates',
  description: 'Click at a point of the screen, which is 1280 pixels wide, 800 high.',
  input: z.strictObject({ x: coordinate, y: coordinate }),
  effect: 'unsafe',
  ...inBrowser,
});

export const browserInputText = defineTool({
  name: 'browser_input_text',
  description: 'Replace what is in a field by typing a text.',
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
  description: 'Press keys, one after the other: "Enter", "Control+a Delete".',
  input: z.strictObject({ keys: z.string().trim().min(1).max(500) }),
  effect: 'unsafe',
  ...inBrowser,
  xml: { content: 'keys' },
});

export const browserScrollDown = defineTool({
  name: 'browser_scroll_down',
  description: 'Scroll down what is at the centre of the screen.',
  input: z.strictObject({ amount }),
  effect: 'unsafe',
  ...inBrowser,
});

export const browserScrollUp = defineTool({
  name: 'browser_scroll_up',
  description: 'Scroll up.',
  input: z.strictObject({ amount }),
  effect: 'unsafe',
  ...inBrowser,
});

export const browserScrollToText = defineTool({
  name: 'browser_scroll_to_text',
  description: 'Scroll to the first place with a text.',
  input: z.strictObject({ text: z.string().trim().min(1).max(1_000) }),
  effect: 'idempotent',
  ...inBrowser,
  xml: { content: 'text' },
});

export const browserGetDropdownOptions = defineTool({
  name: 'browser_get_dropdown_options',
  description: 'List the options of a dropdown list.',
  input: z.strictObject({ index }),
  effect: 'pure',
  ...inBrowser,
});

export const browserSelectDropdownOption = defineTool({
  name: 'browser_select_dropdown_option',
  description: 'Choose an option of a dropdown list, by its text or its number.',
  input: z
    .strictObject({
      index,
      text: z.string().min(1).max(1_000).optional(),
      option: z.number().int().min(0).max(9_999).optional(),
    })
    .refine(({ text, option }) => (text === undefined) !== (option === undefined), { message: 'needs text or option' }),
  effect: 'unsafe',
  ...inBrowser,
  xml: { content: 'text' },
});

export const browserDragDrop = defineTool({
  name: 'browser_drag_drop',
  description: 'Drag from an element or a point of the screen to another.',
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

const pageId = z.number().int().positive();
const anotherName = (name: string) => `The same as ${name}.`;

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
  description: 'Make another tab the active one.',
  input: z
    .strictObject({ page_id: pageId.optional(), index: pageId.optional().describe(anotherName('page_id')) })
    .refine(({ page_id, index }) => (page_id === undefined) !== (index === undefined), { message: 'needs page_id' }),
  effect: 'idempotent',
  ...inBrowser,
});

const browserCloseTab = defineTool({
  name: 'browser_close_tab',
  description: 'Close a tab.',
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
