import { type RunEvent, toShownEvent } from '@rondo/contract';
import { toHiddenFields } from '../memoize';

const texts = toHiddenFields<RunEvent, string>();

/** An event as JSON, the same bytes for every reader: without what only a provider may read. */
export const eventJson = (event: RunEvent): string => texts.get(event) ?? JSON.stringify(toShownEvent(event));

/** Attaches the JSON of an event as it is shown, so that it is not serialized again. The event must not change afterwards. */
export function hasEventJson<Event extends RunEvent>(event: Event, json: string): Event {
  texts.set(event, json);
  return event;
}
