import { type Task, isAboutPdf, newestStep, stepNumber } from './task';

/** A request for a chat completion, as far as the rules read it. */
export interface ChatRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[];
  readonly [parameter: string]: unknown;
}

export interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly type: string }[] | null;
  readonly tool_calls?: readonly ChatCall[];
  readonly tool_call_id?: string;
  readonly [field: string]: unknown;
}

interface ChatCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: { readonly google?: { readonly thought_signature?: string } };
}

/** Why a provider refuses a request, in its words; undefined if it accepts it. */
export type ChatRule = (request: ChatRequest, task: Task) => string | undefined;

const callsIn = ({ tool_calls = [] }: ChatMessage): readonly ChatCall[] => tool_calls;

/** The first reason that a rule about single messages finds. */
const forEachMessage =
  (find: (message: ChatMessage, place: number, all: readonly ChatMessage[]) => string | undefined): ChatRule =>
  ({ messages }) => {
    for (const [place, message] of messages.entries()) {
      const reason = find(message, place, messages);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };

const isEmpty = (content: ChatMessage['content']) => content === undefined || content === null || content.length === 0;

/** Each call has one result, directly after it, and no message is empty. */
export const pairsCalls: ChatRule = ({ messages }) => {
  let open = new Set<string>();
  for (const [place, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id ?? '')) return `messages[${place}] answers no call of the message before.`;
      continue;
    }
    if (open.size > 0) return `tool_call_ids without a response: ${[...open].join(', ')}`;
    const calls = callsIn(message);
    open = new Set(calls.map(({ id }) => id));
    if (open.size < calls.length) return `messages[${place}] has two calls with one id.`;
    if (calls.length === 0 && isEmpty(message.content)) return `messages[${place}].content is empty.`;
    if (calls.some((call) => !isJsonObject(call.function.arguments)))
      return `messages[${place}]: arguments are no JSON object.`;
  }
  return open.size > 0 ? `tool_call_ids without a response: ${[...open].join(', ')}` : undefined;
};

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

export const systemComesFirst = forEachMessage(({ role }, place) =>
  place > 0 && role === 'system' ? 'System message must be at the beginning.' : undefined,
);

/** The chat templates of Gemma and others. */
export const rolesAlternate = forEachMessage(({ role }, place, all) =>
  role === 'user' && all[place - 1]?.role === 'user'
    ? 'Conversation roles must alternate user/assistant/user/assistant/...'
    : undefined,
);

export const noUserAfterTool = forEachMessage(({ role }, place, all) =>
  role === 'user' && all[place - 1]?.role === 'tool' ? "Unexpected role 'user' after role 'tool'" : undefined,
);

/** Servers that parse messages strictly want the key even beside calls. */
export const contentIsPresent = forEachMessage((message, place) =>
  'content' in message ? undefined : `messages[${place}]: missing field \`content\``,
);

export const idsMatch = (pattern: RegExp): ChatRule =>
  forEachMessage((message) => {
    const id = [...callsIn(message).map((call) => call.id), message.tool_call_id ?? []]
      .flat()
      .find((one) => !pattern.test(one));
    return id === undefined ? undefined : `Tool call id was ${id} but must match ${pattern.source}.`;
  });

export const messagesHaveOnly = (...fields: string[]): ChatRule =>
  forEachMessage((message, place) => {
    const field = Object.keys(message).find((one) => !fields.includes(one));
    return field === undefined ? undefined : `messages.${place}.${message.role}: property '${field}' is unsupported`;
  });

export const parametersAre =
  (...parameters: string[]): ChatRule =>
  (request) => {
    const parameter = Object.keys(request).find((one) => !parameters.includes(one));
    return parameter === undefined ? undefined : `extra_forbidden: body.${parameter}: Extra inputs are not permitted`;
  };

export const refusesParameters =
  (...parameters: string[]): ChatRule =>
  (request) => {
    const parameter = parameters.find((one) => request[one] !== undefined);
    return parameter === undefined
      ? undefined
      : `Unsupported parameter: '${parameter}' is not supported with this model.`;
  };

export const effortsAre =
  (...efforts: string[]): ChatRule =>
  ({ reasoning_effort: effort }) =>
    effort === undefined || efforts.some((one) => one === effort)
      ? undefined
      : `\`reasoning_effort\` must be one of ${efforts.join(', ')}`;

/** Models that cannot see, and what they say. */
export const refusesImages = (reason: string): ChatRule =>
  forEachMessage(({ content }) =>
    Array.isArray(content) && content.some(({ type }) => type !== 'text') ? reason : undefined,
  );

/** The image of the task, as long as its message is in the context. */
export const seesTheImage: ChatRule = ({ messages }, task) => {
  const question = messages.find(
    ({ role, content }) => role === 'user' && JSON.stringify(content).includes(`task ${task.id}`),
  );
  if (!question || isAboutPdf(task) || newestStep(task, JSON.stringify(messages)) > 5) return undefined;
  return JSON.stringify(question.content).includes('data:image/png;base64,') ? undefined : 'The image is missing.';
};

export const atMost128Tools: ChatRule = ({ tools = [] }) =>
  tools.length > 128 ? `Invalid 'tools': array too long. Expected an array with maximum length 128` : undefined;

/** What the schemas of Gemini have no field for. */
export const plainSchemas: ChatRule = ({ tools = [] }) => {
  for (const { function: tool } of tools) {
    const flaw = schemaFlaw(tool.parameters);
    if (flaw !== undefined) return `Invalid JSON payload received. ${tool.name}: ${flaw}`;
  }
  return undefined;
};

const unknownKeywords = [
  '$ref',
  '$defs',
  'definitions',
  'const',
  'propertyNames',
  'patternProperties',
  '$schema',
  'not',
];

interface Schema {
  readonly type?: unknown;
  readonly items?: unknown;
  readonly properties?: object;
  readonly anyOf?: readonly unknown[];
  readonly enum?: readonly unknown[];
}

function schemaFlaw(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { type, items, properties = {}, anyOf = [], enum: values = [] } = schema as Schema;
  const keyword = unknownKeywords.find((one) => one in schema);
  if (keyword) return `Unknown name "${keyword}": Cannot find field.`;
  if (Array.isArray(type)) return 'Unknown name "type": Proto field is not repeating, cannot start list.';
  if (type === 'array' && items === undefined) return 'items: missing field.';
  if (values.some((value) => typeof value !== 'string')) return 'Invalid value at enum (TYPE_STRING)';
  return [items, ...Object.values(properties), ...anyOf].map(schemaFlaw).find((flaw) => flaw !== undefined);
}

/** The step that issued the calls of a message; undefined for a message without calls. */
function stepBehind(message: ChatMessage, task: Task) {
  const number = newestStep(task, JSON.stringify(callsIn(message)));
  return message.role === 'assistant' && number > 0 ? stepNumber(task, number) : undefined;
}

/** Of each message with calls that this provider gave out. */
const forEachStep =
  (find: (message: ChatMessage, step: ReturnType<typeof stepNumber>) => string | undefined): ChatRule =>
  (request, task) =>
    forEachMessage((message) => {
      const step = stepBehind(message, task);
      return step && find(message, step);
    })(request, task);

/** A thinking model wants the thought of each call back, as it gave it. */
export const thoughtsReturn = (field: string): ChatRule =>
  forEachStep((message, { thought }) =>
    message[field] === thought
      ? undefined
      : `thinking is enabled but ${field} is missing or changed in an assistant message`,
  );

/** Fields of other makers are refused, or are content by mistake. */
export const noThoughtsInside = forEachMessage((message, place) =>
  ['reasoning', 'reasoning_content', 'reasoning_details'].some((field) => field in message) ||
  JSON.stringify(message.content ?? '').includes('Thought ')
    ? `messages[${place}]: reasoning must not be part of the input`
    : undefined,
);

export const signaturesReturn = forEachStep(({ tool_calls = [] }, { signature }) =>
  tool_calls[0]?.extra_content?.google?.thought_signature === signature
    ? undefined
    : 'Function call is missing a thought_signature in functionCall parts.',
);

export const detailsReturn = forEachStep(({ reasoning_details }, { signature }) =>
  JSON.stringify(reasoning_details ?? '').includes(signature) ? undefined : 'Corrupted or missing reasoning_details.',
);

/** Mistral's models think in parts of the content, and take them back as such. */
export const thoughtsAreParts = forEachMessage(({ content }, place) =>
  typeof content === 'string' && content.includes('Thought ')
    ? `messages[${place}]: a thought came back as text`
    : undefined,
);
