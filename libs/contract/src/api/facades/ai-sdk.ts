import { z } from 'zod';
import { agentId } from '../../ids';
import { modelName } from '../../model-name';
import { type RouteDefinition, defineRoutes } from '../route';

const messagePart = z.looseObject({ type: z.string() });

/** A message as the AI SDK has it. Only the newest one is read. */
const uiMessage = z.looseObject({
  id: z.string(),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(messagePart),
});
export type AiSdkMessage = z.infer<typeof uiMessage>;

const flag = z.boolean().default(false);

const chatRequest = z.strictObject({
  id: z.string().min(1).max(200),
  messages: z.array(uiMessage).min(1),
  trigger: z.enum(['submit-message', 'regenerate-message']),
  messageId: z.string().max(200).nullish(),
  /** The rest is the `body` of the transport. */
  model: modelName.optional(),
  agent: agentId.optional(),
  on_disconnect: z.enum(['continue', 'cancel']).default('continue'),
  /** Whether the client knows frames of approvals, which AI SDK 5 does not. */
  approvals: flag,
  /** Whether the client knows `reset-step`, which AI SDK 5 and 6 do not. */
  resets: flag,
});
export type AiSdkChatRequest = z.infer<typeof chatRequest>;

const chatParams = {
  chat_id: { schema: z.string().min(1).max(200), property: 'chatId', example: 'chat-1' },
} as const;

const stream = { description: 'The UI message stream of the AI SDK.', events: z.unknown() } as const;

/** Routes that the Vercel AI SDK calls. They are no part of the API: their form is the AI SDK's. */
export const aiSdk = defineRoutes('ai-sdk', {
  sendAiSdkMessage: {
    method: 'POST',
    path: '/ai-sdk/chat',
    summary: 'Send the newest message of a chat',
    body: chatRequest,
    storesAnswer: false,
    answers: { 200: stream },
  },
  resumeAiSdkStream: {
    method: 'GET',
    path: '/ai-sdk/chat/{chat_id}/stream',
    summary: 'Read the message that is being written from its beginning',
    query: z.strictObject({ approvals: z.literal('true').optional(), resets: z.literal('true').optional() }),
    params: chatParams,
    answers: { 200: stream, 204: { description: 'No message is being written.' } },
  },
  stopAiSdkChat: {
    method: 'POST',
    path: '/ai-sdk/chat/{chat_id}/stop',
    summary: 'Stop the active run of a chat',
    audit: 'run.stop',
    params: chatParams,
    body: z.strictObject({}),
    storesAnswer: false,
    answers: { 200: { body: z.object({ stopped: z.boolean() }) } },
  },
} satisfies Record<string, RouteDefinition>);

/** The routes of all façades. What another account may not see is tested for each: an unknown chat is no error there. */
export const facadeRoutes = { ...aiSdk };
