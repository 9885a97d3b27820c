import { type ExecutorResult, toFailedResult } from '@rondo/contract';
import type { ExecutorTool } from '@rondo/domain';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ToolInput, ToolContext, ToolHandler } from '../tool-handler';
import { BrowserProblem } from './browser-errors';
import { browserTurn, endBrowser, inBrowser } from './browsers';
import type { ActionOutcome, Page } from './browser-session';
import { click, drag, onScreen, press, typeText } from './input';
import { keyPresses } from './keys';
import { reachable } from './browser-operator';
import { type Tab, viewport } from './tab';
import type { Observation } from './page-state';

type BrowserTool = Extract<ExecutorTool['name'], `browser_${string}`>;

const nothing = z.object({});
const located = z.object({
  point: z.object({ x: z.number(), y: z.number() }),
  tag: z.string(),
  type: z.string().optional(),
});

/** An action on the browser of the thread; one runs at a time. The model reads the text that it returns, and then the page. */
function action<Name extends BrowserTool>(
  act: (input: ToolInput<Name>, page: Page, context: ToolContext) => Promise<string>,
): ToolHandler<ToolInput<Name>> {
  return {
    mutexKey: () => browserTurn,
    handle: (input, context): Promise<ExecutorResult> =>
      inBrowser(context, (page) => act(input, page, context)).then(toResult, (error: unknown) => {
        if (error instanceof BrowserProblem) return toFailedResult(error.message);
        throw error;
      }),
  };
}

const browserNavigateTo = action<'browser_navigate_to'>(async ({ url }, { tab }) => {
  await tab.navigate(reachable(url));
  return `Opened ${url}.`;
});

const browserRestart: ToolHandler<ToolInput<'browser_restart'>> = {
  ...browserNavigateTo,
  handle: async (input, context) => {
    await endBrowser(context.sandbox);
    return browserNavigateTo.handle(input, context);
  },
};

const browserGoBack = action<'browser_go_back'>(async (_, { tab }) => {
  if (!(await tab.goBack())) throw new BrowserProblem('There is no page before this one.');
  return 'Went back.';
});

const browserWait = action<'browser_wait'>(async ({ seconds }, _, { signal }) => {
  await delay(seconds * 1_000, undefined, { signal }).catch(() => undefined); // A stop of the run is noticed by the caller.
  return `Waited for ${seconds} s.`;
});

const browserClickElement = action<'browser_click_element'>(async ({ index }, { tab }) => {
  const { point, tag, type } = await locate(tab, index);
  if (tag === 'SELECT') throw new BrowserProblem('This is a dropdown list: use browser_select_dropdown_option.');
  if (type === 'file') throw new BrowserProblem('Files cannot be chosen by a click.');
  await click(tab, point);
  await tab.settle();
  return `Clicked element ${index}.`;
});

const browserClickCoordinates = action<'browser_click_coordinates'>(async ({ x, y }, { tab }) => {
  await click(tab, onScreen({ x, y }));
  await tab.settle();
  return `Clicked at ${x}, ${y}.`;
});

const browserInputText = action<'browser_input_text'>(async ({ index, text }, { tab }) => {
  const { point } = await locate(tab, index);
  await click(tab, point);
  await tab.call('selectContent', [index], nothing);
  await replaceSelected(tab, text);
  await tab.settle();
  return `Typed into element ${index}.`;
});

const browserEnterText = action<'browser_enter_text'>(async ({ text, press_enter }, { tab }) => {
  await tab.call('selectFocused', [], nothing);
  await replaceSelected(tab, text);
  if (press_enter) await pressAll(tab, 'Enter');
  await tab.settle();
  return 'Typed into the field.';
});

const browserSendKeys = action<'browser_send_keys'>(async ({ keys }, { tab }) => {
  await pressAll(tab, keys);
  await tab.settle();
  return `Pressed ${keys}.`;
});

const browserSwitchTab = action<'browser_switch_tab'>(async ({ page_id, index = 0 }, { tabs }) => {
  const id = page_id ?? index; // the tool's schema requires one of the two
  await tabs.activate(tabs.find(id));
  return `Tab ${id} is the active one.`;
});

const browserOpenNewTab = action<'browser_open_new_tab'>(async (_, { tabs }) => {
  const { id } = await tabs.open();
  return `Opened tab ${id}.`;
});

const browserCloseTab = action<'browser_close_tab'>(async ({ page_id }, { tabs }) => {
  await tabs.close(tabs.find(page_id));
  return `Closed tab ${page_id}.`;
});

const browserScrollDown = action<'browser_scroll_down'>(({ amount = viewport.height }, { tab }) => scroll(tab, amount));

const browserScrollUp = action<'browser_scroll_up'>(({ amount = viewport.height }, { tab }) => scroll(tab, -amount));

const browserScrollToText = action<'browser_scroll_to_text'>(async ({ text }, { tab }) => {
  await tab.call('scrollToText', [text], nothing);
  return 'Scrolled to the text.';
});

const browserGetDropdownOptions = action<'browser_get_dropdown_options'>(async ({ index }, { tab }) => {
  const { options } = await tab.call('options', [index], z.object({ options: z.array(z.string()) }));
  return `Options of element ${index}:\n${options.map((option, number) => `${number}: ${option}`).join('\n')}\n`;
});

const browserSelectDropdownOption = action<'browser_select_dropdown_option'>(
  async ({ index, text, option = 0 }, { tab }) => {
    const { chosen } = await tab.call('selectOption', [index, text ?? option], z.object({ chosen: z.string() }));
    await tab.settle();
    return `Chose "${chosen}" in element ${index}.`;
  },
);

const browserDragDrop = action<'browser_drag_drop'>(async (input, { tab }) => {
  const from = await readEnd(tab, { index: input.element_source, x: input.coord_source_x, y: input.coord_source_y });
  const to = await readEnd(tab, { index: input.element_target, x: input.coord_target_x, y: input.coord_target_y });
  await drag(tab, from, to);
  await tab.settle();
  return 'Dragged.';
});

/** One for each tool of the browser. */
export const browserHandlers = {
  browser_navigate_to: browserNavigateTo,
  browser_go_back: browserGoBack,
  browser_wait: browserWait,
  browser_click_element: browserClickElement,
  browser_click_coordinates: browserClickCoordinates,
  browser_input_text: browserInputText,
  browser_send_keys: browserSendKeys,
  browser_switch_tab: browserSwitchTab,
  browser_close_tab: browserCloseTab,
  browser_scroll_down: browserScrollDown,
  browser_scroll_up: browserScrollUp,
  browser_scroll_to_text: browserScrollToText,
  browser_get_dropdown_options: browserGetDropdownOptions,
  browser_select_dropdown_option: browserSelectDropdownOption,
  browser_drag_drop: browserDragDrop,
  browser_restart: browserRestart,
  browser_enter_text: browserEnterText,
  browser_open_new_tab: browserOpenNewTab,
} satisfies { [Name in BrowserTool]: ToolHandler<ToolInput<Name>> };

const locate = (tab: Tab, index: number) => tab.call('locate', [index], located);

async function replaceSelected(tab: Tab, text: string): Promise<void> {
  if (text === '') await pressAll(tab, 'Delete');
  else await typeText(tab, text);
}

async function pressAll(tab: Tab, keys: string): Promise<void> {
  for (const keyPress of keyPresses(keys)) await press(tab, keyPress);
}

async function scroll(tab: Tab, pixels: number): Promise<string> {
  const { moved } = await tab.call('scroll', [pixels], z.object({ moved: z.number() }));
  return moved === 0 ? 'Nothing is left in that direction.' : `Scrolled by ${moved} pixels.`;
}

async function readEnd(tab: Tab, end: { index?: number | undefined; x?: number | undefined; y?: number | undefined }) {
  if (end.index !== undefined) return (await locate(tab, end.index)).point;
  return onScreen({ x: end.x ?? 0, y: end.y ?? 0 }); // the tool's schema requires one of the two
}

const failingStatus = 400;

/** The text that the model reads after an action, and the state of the browser, which is stored apart from it. */
function toResult({ message, problem, observation }: ActionOutcome): ExecutorResult {
  if (!observation) return { success: false, output: message, error: problem ?? 'The page could not be read.' };
  const refused = problem === undefined ? findRefusal(observation) : undefined;
  const error = problem ?? refused;
  const result = { success: error === undefined, output: toText(message, observation), browser: toState(observation) };
  return error === undefined ? result : { ...result, error };
}

const findRefusal = ({ status, url }: Observation): string | undefined =>
  status >= failingStatus ? `${url} returned status ${status}.` : undefined;

function toText(message: string, seen: Observation): string {
  const { url, title, elements, pixels_above, pixels_below, is_cut, tabs, notes } = seen;
  return [
    ...[message, ...notes].filter(Boolean),
    `URL: ${url}`,
    `Title: ${title}`,
    ...(tabs.length > 1
      ? ['Tabs:', ...tabs.map((tab) => `  ${tab.page_id}${tab.is_active ? ' (active)' : ''}: ${tab.title} ${tab.url}`)]
      : []),
    `${pixels_above} pixels above the screen, ${pixels_below} below it.`,
    '',
    elements || '(The page shows no text and no elements.)',
    ...(is_cut ? ['[… more than can be listed: scroll to see the rest …]'] : []),
  ].join('\n');
}

function toState({ screenshot, tabs, ...seen }: Observation) {
  const { url, title, elements, element_count, pixels_above, pixels_below } = seen;
  const size = { viewport_width: viewport.width, viewport_height: viewport.height };
  const view = { url, title, elements, element_count, pixels_above, pixels_below, ...size, tabs: [...tabs] };
  return screenshot === undefined ? view : { ...view, screenshot: { media_type: 'image/jpeg', data: screenshot } };
}
