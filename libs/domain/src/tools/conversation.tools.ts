import { textLimits } from '@rondo/contract';
import { z } from 'zod';
import { defineTool } from './define-tool';

const attachments = z
  .union([z.string(), z.array(z.string()).max(100)])
  .optional()
  .describe('Paths of files to show.');

export const ask = defineTool({
  name: 'ask',
  description: 'Ask the user a question and wait for the answer. The only way to get one.',
  input: z.strictObject({ text: z.string().min(1), attachments }),
  effect: 'pure',
  runsIn: 'loop',
  timeoutMs: 1_000,
  group: 'conversation',
  xml: { content: 'text' },
});

export const webBrowserTakeover = defineTool({
  name: 'web_browser_takeover',
  description:
    'Let the user do in your browser what you cannot, such as a captcha, a login or a payment, and wait. Say which page it is and ' +
    'what you need. Then read the page again; passwords are not shown to you.',
  input: z.strictObject({ text: z.string().min(1), attachments }),
  effect: 'pure',
  runsIn: 'loop',
  timeoutMs: 1_000,
  group: 'web',
  needs: 'browser',
  xml: { content: 'text' },
});

export const complete = defineTool({
  name: 'complete',
  description: 'End the task, which is done, with a message for the user.',
  input: z.strictObject({
    text: z.string().optional(),
    answer: z.string().optional(),
    attachments,
    follow_up_prompts: z.array(z.string()).max(100).optional(),
  }),
  effect: 'pure',
  runsIn: 'loop',
  timeoutMs: 1_000,
  group: 'conversation',
  xml: { content: 'text' },
});

export const messageUser = defineTool({
  name: 'message_user',
  description: 'Tell the user something while you work. It is shown at once, and you do not wait for an answer.',
  input: z.strictObject({ text: z.string().min(1).max(textLimits.block) }),
  effect: 'pure',
  runsIn: 'loop',
  timeoutMs: 1_000,
  group: 'conversation',
  xml: { content: 'text' },
});

export const returnControlToUser = defineTool({
  name: 'return_control_to_user',
  description: 'End your turn because only the user can take the next step. Say what that is before you call it.',
  input: z.strictObject({}),
  effect: 'pure',
  runsIn: 'loop',
  timeoutMs: 1_000,
  group: 'conversation',
});

/** Tools after which the run is over. */
export const endsRun = (name: string): boolean => name === complete.name || name === returnControlToUser.name;

/** Tools after which the run waits for its user. */
export const asksUser = (name: string): boolean => name === ask.name || name === webBrowserTakeover.name;

/** Tools after which nothing more of the turn is run. */
export const endsTurn = (name: string): boolean => asksUser(name) || endsRun(name);
