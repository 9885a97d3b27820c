import { createHash } from 'node:crypto';
import { type ModelMessage, type ModelRequest, type ModelToolResult, type ShownImage, memoize } from '@rondo/domain';
import { refusedImage } from '../wire-protocol';

/** The hashes of what a server does not take (again): images, and what came with reasoning and calls to go back. */
export interface PartRules {
  readonly refusedParts?: ReadonlySet<string>;
}

const aboutReasoning =
  /encrypted.content\b.*could not be|invalid_encrypted_content|of type 'reasoning' was provided without|items? with id '?rs_|signature`?\s.*\bthinking\b|thinking`?\s.*\bsignature|thought.signature.* (?:is )?(?:not valid|invalid)|(?:corrupted|invalid) thought.signature|thinking`?.* blocks? .*cannot be modified/i;

/**
 * The rules with what a refusal of opaque parts teaches. A signature or a cipher may become invalid: another machine reads it,
 * a key was changed. Without what is refused, the request holds all that was said.
 */
export function learnReasoning<Rules extends PartRules>(
  rules: Rules,
  { messages }: ModelRequest,
  message: string,
): Rules | undefined {
  if (!aboutReasoning.test(message)) return undefined;
  return withRefused(rules, messages.flatMap(opaqueParts).map(toHash));
}

const aboutImages = /\bimages?\b|image_url|input_image|media_type/i;

/** The rules with what a refusal of images teaches: as a rule it is about the newest one, and else about any of them. */
export function learnImages<Rules extends PartRules>(
  rules: Rules,
  { messages }: ModelRequest,
  message: string,
): Rules | undefined {
  if (!aboutImages.test(message)) return undefined;
  const shown = messages.flatMap(imagesIn).map(toHash);
  const open = shown.filter((hash) => !rules.refusedParts?.has(hash));
  const newest = open.at(-1) === shown.at(-1) ? open.slice(-1) : [];
  const refused = aboutMany.test(message) ? open.slice(0, -countKept(open.length, message)) : newest;
  return withRefused(rules, refused.length > 0 ? refused : open);
}

const aboutMany = /many.images?|at most \d+ image|too much media/i;

/** `At most 5 image(s)`, `supports up to 5 images`, `104 + 1 > 100`. */
const mostImages = /(?:at most|up to|maximum (?:of|is)) (\d+)|> (\d+)/i;

/**
 * How many images stay of too many: as many as the refusal allows. Of a high limit it is half, because a request whose oldest image
 * leaves is read anew from there on, and the next image would make one leave again.
 */
function countKept(shown: number, message: string): number {
  const [, most, other] = mostImages.exec(message) ?? [];
  const allowed = Number(most ?? other ?? 1);
  const kept = allowed > 10 ? Math.floor(allowed / 2) : allowed;
  return shown > kept ? kept : Math.floor(shown / 2);
}

function withRefused<Rules extends PartRules>(rules: Rules, hashes: readonly string[]): Rules | undefined {
  const { refusedParts } = rules;
  if (hashes.every((hash) => refusedParts?.has(hash))) return undefined;
  return { ...rules, refusedParts: addRefused(refusedParts, hashes) };
}

/** More than the threads of a process hold that are in use. */
const mostRefused = 10_000;

/** The hashes of what was refused, the newest ones. */
export const addRefused = (known: ReadonlySet<string> = new Set(), hashes: readonly string[]): ReadonlySet<string> =>
  new Set([...known, ...hashes].slice(-mostRefused));

/** Removes from a request what its server has refused. The same message becomes the same object, so that caches hit. */
export function removeRefused({ refusedParts }: PartRules): (request: ModelRequest) => ModelRequest {
  if (!refusedParts) return (request) => request;
  const isRefused = (part: unknown): boolean => refusedParts.has(toHash(part));
  const clean = memoize((message: ModelMessage) => without(message, isRefused));
  return (request) => ({ ...request, messages: request.messages.map(clean) });
}

function without(message: ModelMessage, isRefused: (part: unknown) => boolean): ModelMessage {
  if (![...imagesIn(message), ...opaqueParts(message)].some(isRefused)) return message;
  switch (message.role) {
    case 'user':
      return {
        ...message,
        content: message.content.map((block) =>
          block.type === 'image' && isRefused(block.source) ? { type: 'text', text: refusedImage } : block,
        ),
      };
    case 'assistant':
      return { ...message, content: message.content.map((block) => withoutOpaque(block, isRefused)) };
    case 'tool':
      return { ...message, results: message.results.map((result) => withoutImage(result, isRefused)) };
  }
}

type AssistantBlock = Extract<ModelMessage, { role: 'assistant' }>['content'][number];

function withoutOpaque(block: AssistantBlock, isRefused: (part: unknown) => boolean): AssistantBlock {
  if (!opaqueIn(block).some(isRefused)) return block;
  if (block.type === 'reasoning') return { type: 'reasoning', text: block.text };
  if (block.type === 'text') return block;
  const { opaque: _, ...call } = block;
  return call;
}

function withoutImage(result: ModelToolResult, isRefused: (part: unknown) => boolean): ModelToolResult {
  const { image, ...rest } = result;
  return image && isRefused(image) ? { ...rest, text: [rest.text, refusedImage].filter(Boolean).join('\n') } : result;
}

function imagesIn(message: ModelMessage): ShownImage[] {
  switch (message.role) {
    case 'user':
      return message.content.flatMap((block) => (block.type === 'image' ? [block.source] : []));
    case 'assistant':
      return [];
    case 'tool':
      return message.results.flatMap(({ image }) => image ?? []);
  }
}

const opaqueParts = (message: ModelMessage): unknown[] =>
  message.role === 'assistant' ? message.content.flatMap(opaqueIn) : [];

/** Reasoning that an earlier version stored has its signature beside it. */
function opaqueIn(block: AssistantBlock): unknown[] {
  if (block.type === 'text') return [];
  const stored = block.type === 'reasoning' ? [block.signature, block.redacted] : [];
  return [block.opaque?.data, ...stored].filter((part) => part !== undefined);
}

export const toHash = (part: unknown): string => createHash('sha256').update(JSON.stringify(part)).digest('base64');
