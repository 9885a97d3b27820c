import { z } from 'zod';
import { callId } from './ids';

const words = z.string().max(2_000);
const count = z.number().int().nonnegative();

/** A field of a form, as the Model Context Protocol allows it: flat, and of a plain type. A list has texts that are to be chosen. */
export const formField = z.object({
  type: z.enum(['string', 'number', 'integer', 'boolean', 'array']),
  title: words.exactOptional(),
  description: words.exactOptional(),
  /** The texts that may be chosen; absent: any. */
  options: z
    .array(z.object({ value: words, title: words.exactOptional() }))
    .max(200)
    .exactOptional(),
  format: z.enum(['email', 'uri', 'date', 'date-time']).exactOptional(),
  min_length: count.exactOptional(),
  max_length: count.exactOptional(),
  minimum: z.number().exactOptional(),
  maximum: z.number().exactOptional(),
  min_items: count.exactOptional(),
  max_items: count.exactOptional(),
  default: z.union([words, z.number(), z.boolean(), z.array(words)]).exactOptional(),
  required: z.boolean(),
});
export type FormField = z.infer<typeof formField>;

/** What an MCP server asks a person while one of its tools is called: a form to fill in, or a page to visit. */
export const elicitation = z.object({
  tool_call_id: callId,
  /** Of the tool. */
  name: z.string(),
  /** Tells the questions of one call apart. */
  key: z.string(),
  server: z.string(),
  mode: z.enum(['form', 'url']),
  /** What the server says. It is not trusted. */
  message: words,
  /** Of a form, by the names of the fields, in the order of the server. */
  fields: z.record(z.string(), formField).exactOptional(),
  /** Of a page: `https`, and opened by the person only. */
  url: z.string().max(2_000).exactOptional(),
  requested_at: z.iso.datetime(),
  /** It is cancelled then. */
  expires_at: z.iso.datetime(),
});
export type Elicitation = z.infer<typeof elicitation>;

/** What an executor reports of it: the run adds the times. */
export const askedInput = elicitation.omit({ tool_call_id: true, name: true, requested_at: true, expires_at: true });
export type AskedInput = z.infer<typeof askedInput>;

/** `accept`: the form is filled in, or the page is opened. `decline`: a person says no. `cancel`: it was not decided. */
export const inputAnswer = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z
    .record(z.string().max(200), z.union([z.string().max(10_000), z.number(), z.boolean(), z.array(words).max(200)]))
    .exactOptional(),
});
export type InputAnswer = z.infer<typeof inputAnswer>;

/** With what a call is sent once more, after its server asked for it. */
export const callInput = z.object({
  answers: z.record(z.string(), inputAnswer),
  /** What the server wants back unchanged. */
  state: z.string().exactOptional(),
});
export type CallInput = z.infer<typeof callInput>;

/** What a call needs from people before it can be completed. */
export const requiredInput = z.object({ asked: z.array(askedInput).min(1).max(20), state: callInput.shape.state });
export type RequiredInput = z.infer<typeof requiredInput>;

export const inputRequested = z.object({
  tool_call_id: callId,
  name: z.string(),
  elicitations: z.array(elicitation),
  /** Opaque; given back to the server. */
  state: callInput.shape.state,
});

/** `answered_by`: the id of an API key; null where the time for it was over. */
export const inputGiven = inputAnswer.extend({
  tool_call_id: callId,
  name: z.string(),
  key: z.string(),
  answered_by: z.string().nullable(),
});
