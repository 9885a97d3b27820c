import { z } from 'zod';
import { agentId } from '../../ids';
import { requestedModel } from '../../model';
import { metadataValue } from '../metadata';
import { type RouteDefinition, defineRoutes } from '../route';
import { type FacadeCoverage, refuseFields } from './coverage';

/** What Rondo serves of the protocol of the AI SDK. */
export const aiSdkCoverage = {
  path: '/ai-sdk/chat',
  routes: {
    'POST /': 'the newest message of a chat',
    'GET /{id}/stream': 'the message that is being written; `?approvals=true` and `?resets=true` as below',
    'POST /{id}/stop': 'stops the active run',
  },
  refusedRoutes: {},
  requests: {
    '`body` of the transport': {
      served: {
        model: 'the model. Default: [as for all façades](../facades.md#agents-models-and-instructions)',
        agent: 'the id of a [stored agent](../agents.md). Default: the same',
        on_disconnect: '`cancel`: closing the stream stops the run. Default: `continue`',
        approvals:
          '`true`: calls that need an [approval](../approvals.md) are shown for a decision. For AI SDK 6 and 7 only: 5 fails on their frames',
        resets:
          '`true`: a reply that is written anew replaces its beginning. For AI SDK 7 only. Otherwise the withdrawn text stays before the new one',
      },
      refused: {
        tools: { why: 'tools of the client are named by the stored agent' },
        system: { why: 'send a message of the role `system`' },
        temperature: { why: 'use `llm` of a stored agent' },
        messageMetadata: { why: 'the metadata of a message is what Rondo says of its run' },
      },
    },
  },
} as const satisfies FacadeCoverage;

const messagePart = z.looseObject({ type: z.string() });

/** A message as the AI SDK has it. Only the newest one is read, and those of the role `system`. */
const uiMessage = z.looseObject({
  /** A run keeps that of its question. */
  id: metadataValue,
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
  model: requestedModel.optional(),
  agent: agentId.optional(),
  on_disconnect: z.enum(['continue', 'cancel']).default('continue'),
  /** Whether the client knows frames of approvals, which AI SDK 5 does not. */
  approvals: flag,
  /** Whether the client knows `reset-step`, which AI SDK 5 and 6 do not. */
  resets: flag,
  ...refuseFields(aiSdkCoverage.requests['`body` of the transport'].refused),
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
    answers: { 200: { body: z.object({ stopped: z.boolean() }) } },
  },
} satisfies Record<string, RouteDefinition>);
