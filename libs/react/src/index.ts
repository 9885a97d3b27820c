'use client';
export { useRun, type UsedRun } from '@rondo/client/react';
export {
  type Action,
  type ActionView,
  describeAction,
  describeArguments,
  findView,
  summarizeActions,
} from './actions.ts';
export { Chat, type ChatProps, Conversation, type ConversationProps } from './chat.tsx';
export { type ChatItem, type EndedRun, type PublishedLink, isPlan, readFollowUps, toChatItems } from './chat-items.ts';
export { Composer, type ComposerProps, type Draft } from './composer.tsx';
export { bytes, count, describeNote, duration } from './describe-note.ts';
export { type EditedTurns, type FormerQuestion, editedTurns, isNoteToAgent, newestQuestion } from './edited-turns.ts';
export { ItemList, type ItemParts, type PartProps, decisions } from './items.tsx';
export { listEnvironment } from './list-environment.ts';
export { type Turn, messageRows, toTurns } from './message-rows.ts';
export { beginning, colouredText, plainText } from './plain-text.ts';
export { RunView, type RunViewProps } from './run-view.tsx';
export {
  type NewMessage,
  type RunFields,
  type WhereTo,
  type WhileActive,
  isQuestion,
  sendMessage,
} from './send-message.ts';
export { type SpokenText, spokenText } from './spoken-text.ts';
export { type ThreadView, pickRun, toThreadView } from './thread-view.ts';
export { ThreadWatch, type WatchedThread } from './thread-watch.ts';
export { type Attachment, type Attachments, requireReadable, useAttachments } from './use-attachments.ts';
export { type UseThreadOptions, type UsedThread, useThread } from './use-thread.ts';
