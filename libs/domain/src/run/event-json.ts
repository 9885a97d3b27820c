import { hiddenFieldsOf } from '../memoize/hidden-fields';
import type { RunEvent } from '@rondo/contract';

const texts = hiddenFieldsOf<RunEvent, string>();

/** An event as JSON, the same to the byte for whoever asks. */
export const eventJson = (event: RunEvent): string => texts.get(event) ?? JSON.stringify(event);

/** Says what it is as JSON, for who has made that already: nobody need make it again. The event never changes from then on. */
export function hasEventJson<Event extends RunEvent>(event: Event, json: string): Event {
  texts.set(event, json);
  return event;
}
