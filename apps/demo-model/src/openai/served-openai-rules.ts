import { Violation } from '../refusal';
import type { OpenAiMessage, OpenAiRequest } from './served-openai-request';

/** The rules that a schema cannot express: which fields and messages of a request require or exclude each other. */
export function checkOpenAiRules(request: OpenAiRequest): void {
  checkSettings(request);
  checkPairing(request.messages);
}

function checkSettings(request: OpenAiRequest): void {
  if (request.stream_options && !request.stream) {
    throw new Violation("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options');
  }
  if (request.tool_choice && !request.tools) {
    throw new Violation("'tool_choice' is only allowed when 'tools' are specified.", 'tool_choice');
  }
  if (request.max_tokens && request.max_completion_tokens) {
    throw new Violation("'max_tokens' and 'max_completion_tokens' cannot both be set.", 'max_tokens');
  }
  if (request.response_format?.type === 'json_object' && !/json/i.test(JSON.stringify(request.messages))) {
    throw new Violation("'messages' must contain the word 'json' to use 'response_format' json_object.", 'messages');
  }
  const names = request.tools?.map((tool) => tool.function.name) ?? [];
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Violation(`The tool '${twice}' is defined more than once.`, 'tools');
}

/** Every call has an id of its own and exactly one answer, and the answers follow their calls with nothing in between. */
function checkPairing(messages: readonly OpenAiMessage[]): void {
  const known = new Set<string>();
  let open = new Set<string>();

  messages.forEach((message, index) => {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id)) throw orphan(message.tool_call_id, index);
      return;
    }
    if (open.size > 0) throw refuseUnanswered(open, index);
    if (message.role !== 'assistant') return;

    const ids = (message.tool_calls ?? []).map(({ id }) => id);
    open = new Set(ids);
    const isRepeated = open.size < ids.length || ids.some((id) => known.has(id));
    for (const id of ids) known.add(id);
    if (isRepeated) {
      throw new Violation(`Duplicate value for 'tool_call_id' in message ${index}.`, `messages.[${index}].tool_calls`);
    }
  });
  if (open.size > 0) throw refuseUnanswered(open, messages.length);
}

const orphan = (id: string, index: number) =>
  new Violation(
    `Messages with role 'tool' must answer a preceding message with 'tool_calls', each call once. No open call: ${id}`,
    `messages.[${index}].tool_call_id`,
  );

const refuseUnanswered = (ids: Iterable<string>, index: number) =>
  new Violation(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      `The following tool_call_ids did not have response messages: ${[...ids].join(', ')}`,
    `messages.[${index}].role`,
  );
