import type { ExecutorResult } from '@rondo/contract';
import type { ActionOutcome } from './browser-session';
import type { Observation } from './page-state';
import { viewport } from './tab';

const failingStatus = 400;

/** The text that the model reads after an action, and the state of the browser, which is stored apart from it. */
export function toResult({ message, problem, observation }: ActionOutcome): ExecutorResult {
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
