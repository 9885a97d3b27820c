import {
  type AskedInput,
  type CallInput,
  type FormField,
  type RequiredInput,
  formField,
  requiredInput,
} from '@rondo/contract';
import { z } from 'zod';
import { readableLine } from './readable-text';

/** A server asked for something that is not passed on to people. Nothing of the call was completed. */
export class InputRefused extends Error {
  override readonly name = 'InputRefused';
}

const mostState = 65_536;
const mostFields = 50;
const mostMessage = 2_000;
const mostLabel = 200;

const option = z.object({ const: z.string(), title: z.string().optional() });
/** The schemas of the protocol, and the older way to name options. */
const property = z.object({
  ...{ type: formField.shape.type, title: z.string().optional(), description: z.string().optional() },
  ...{ enum: z.array(z.string()).optional(), enumNames: z.array(z.string()).optional() },
  oneOf: z.array(option).optional(),
  items: z.object({ enum: z.array(z.string()).optional(), anyOf: z.array(option).optional() }).optional(),
  format: z.string().optional(),
  ...{ minLength: z.number().optional(), maxLength: z.number().optional() },
  ...{ minimum: z.number().optional(), maximum: z.number().optional() },
  ...{ minItems: z.number().optional(), maxItems: z.number().optional() },
  default: z.unknown().optional(),
});
type Property = z.infer<typeof property>;

const form = z.object({
  properties: z.record(z.string().min(1).max(mostLabel), property),
  required: z.array(z.string()).optional(),
});

const request = z.object({
  method: z.literal('elicitation/create'),
  params: z.object({
    mode: z.enum(['form', 'url']).default('form'),
    message: z.string(),
    requestedSchema: z.unknown().optional(),
    url: z.string().optional(),
  }),
});

interface GivenInput {
  readonly inputRequests?: unknown;
  readonly requestState?: unknown;
}

/** What a server wants before it completes a call. Without questions it wants only to be asked again, with its state. Throws InputRefused. */
export function readRequiredInput(
  server: string,
  { inputRequests, requestState }: GivenInput,
): RequiredInput | { readonly state: string } {
  const requests = Object.entries(z.record(z.string().max(mostLabel), z.unknown()).safeParse(inputRequests).data ?? {});
  const state = z.string().safeParse(requestState).data;
  if (state !== undefined && state.length > mostState) throw new InputRefused('its state is too long');
  if (requests.length === 0 && state !== undefined) return { state };
  const asked = requests.map(([key, given]) => readQuestion(server, key, given));
  const read = requiredInput.safeParse({ asked, ...(state !== undefined && { state }) });
  if (!read.success) throw new InputRefused('what it asks for is too large');
  return read.data;
}

function readQuestion(server: string, key: string, given: unknown): AskedInput {
  const read = request.safeParse(given);
  if (!read.success) throw new InputRefused('it asks for something else than a form or a page');
  const { mode, message, requestedSchema, url } = read.data.params;
  const about = { key, server, mode, message: readableLine(message, mostMessage) };
  return mode === 'url' ? { ...about, url: checkUrl(url) } : { ...about, fields: readFields(requestedSchema) };
}

/** A person opens it, so it must be what it looks like. */
function checkUrl(given = ''): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'https:' || url.username || url.password || url.href.length > mostMessage)
    throw new InputRefused('the page that it wants to be opened has no address of the form https://…');
  return url.href;
}

function readFields(schema: unknown): Record<string, FormField> {
  const read = form.safeParse(schema);
  const properties = Object.entries(read.data?.properties ?? {});
  if (!read.success || properties.length > mostFields)
    throw new InputRefused('its form is none of at most 50 fields of plain types');
  const required = new Set(read.data.required);
  return Object.fromEntries(properties.map(([name, given]) => [name, toField(given, required.has(name))] as const));
}

function toField(given: Property, required: boolean): FormField {
  const { type, title, description, format, minimum, maximum } = given;
  const options = optionsIn(given);
  const field = {
    ...{ type, required, minimum, maximum, options },
    ...{ title: shorten(title), description: shorten(description) },
    ...{
      min_length: given.minLength,
      max_length: given.maxLength,
      min_items: given.minItems,
      max_items: given.maxItems,
    },
    format: formField.shape.format.safeParse(format).data,
    default: formField.shape.default.safeParse(given.default).data,
  };
  const read = formField.safeParse(
    Object.fromEntries(Object.entries(field).filter(([, value]) => value !== undefined)),
  );
  if (!read.success) throw new InputRefused('a field of its form has limits that cannot be');
  return read.data;
}

const shorten = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : readableLine(text, mostLabel);

function optionsIn({ enum: values, enumNames: names, oneOf, items }: Property): FormField['options'] {
  const titled = oneOf ?? items?.anyOf;
  if (titled) return titled.map(({ const: value, title }) => toOption(value, title));
  return (values ?? items?.enum)?.map((value, index) => toOption(value, names?.[index]));
}

const toOption = (value: string, title: string | undefined) => ({
  value,
  ...(title !== undefined && { title: readableLine(title, mostLabel) }),
});

/** What the protocol wants of a call that is sent once more. */
export const toInputParams = ({ answers, state }: CallInput) => ({
  ...(Object.keys(answers).length > 0 && { inputResponses: answers }),
  ...(state !== undefined && { requestState: state }),
});
