import { z } from 'zod';
import { isSame } from './canonical-json';
import type { RecordedRequest } from './recording';

/**
 * A request as its line says it: only what differs from the request before, because each repeats the whole conversation.
 * `same_messages` is the number of leading messages that both have.
 */
export const requestLine = z.strictObject({
  model: z.string(),
  system: z.string().optional(),
  tools: z.array(z.unknown()).optional(),
  settings: z.record(z.string(), z.unknown()).optional(),
  same_messages: z.number().int().nonnegative(),
  messages: z.array(z.record(z.string(), z.unknown())),
});
export type RequestLine = z.infer<typeof requestLine>;

const nothing: RecordedRequest = { model: '', system: '', tools: [], settings: {}, messages: [] };

export function linesOfRequests(requests: readonly RecordedRequest[]): object[] {
  return requests.map(({ model, system, tools, settings, messages }, index) => {
    const before = requests[index - 1] ?? nothing;
    const firstNew = messages.findIndex((message, at) => !isSame(message, before.messages[at]));
    const same = firstNew < 0 ? messages.length : firstNew;
    return {
      model,
      ...(system !== before.system && { system }),
      ...(!isSame(tools, before.tools) && { tools }),
      ...(!isSame(settings, before.settings) && { settings }),
      same_messages: same,
      messages: messages.slice(same),
    };
  });
}

/** Undefined if the line repeats more messages than the request before has. */
export function requestAfter(before: RecordedRequest = nothing, line: RequestLine): RecordedRequest | undefined {
  if (line.same_messages > before.messages.length) return undefined;
  return {
    model: line.model,
    system: line.system ?? before.system,
    tools: line.tools ?? before.tools,
    settings: line.settings ?? before.settings,
    messages: [...before.messages.slice(0, line.same_messages), ...line.messages],
  };
}
