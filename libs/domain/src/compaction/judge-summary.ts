import { type RunError, readJson } from '@rondo/contract';
import { splitThoughts } from '../dialects/thought-reader';

/** What a model wrote when it was asked for a summary: the summary, or why it is none. */
export function judgeSummary(written: string): { readonly text: string } | { readonly error: RunError } {
  const text = splitThoughts(written).text.trim();
  if (text === '') return { error: empty };
  if (isCall(text)) return { error: isCallOnly };
  if (sections.test(text)) return { text };
  if (refusal.test(text)) return { error: refused };
  if (callAtLineStart.test(text)) return { error: isCallOnly };
  return isAnswer(text) ? { error: answered } : { text };
}

/** What the prompts ask for. A text that has it was written as a summary, whatever it quotes. */
const sections = /\bLATEST[ _]STATE\b|^\W*(?:USER_CONTEXT|COMPLETED|PENDING|CURRENT_STATE|CODE_STATE)\b\W*(?::|$)/im;

const call =
  '(?:<function_calls>|<invoke\\b|<tool_call[>\\s]|<function[=\\s]|<\\|tool_calls?|<｜tool|\\[TOOL_CALLS\\]|<\\|channel\\|>(?:commentary|analysis)|functions\\.\\w+)';
const callAtStart = new RegExp(`^(?:\`\`\`\\w*\\s*)?${call}`);
const callAtLineStart = new RegExp(`^\\s*${call}`, 'm');
/** A single element with the name of a tool, in the dialect of tags. */
const onlyTag = /^<([a-z]+(?:[-_][a-z]+)+)\b[^]*(?:\/>|<\/\1>)$/;

function isCall(text: string): boolean {
  return callAtStart.test(text) || onlyTag.test(text) || isCallInJson(text.replace(/^```\w*\s*|\s*```$/g, ''));
}

/** Whether the text is a call of a tool in any of the shapes that models were trained on. */
function isCallInJson(text: string): boolean {
  if (!/^[{[]/.test(text)) return false;
  const [first] = [readJson(text)].flat();
  if (typeof first !== 'object' || first === null) return false;
  return ['tool_name', 'toolName', 'tool_calls', 'function', 'function_call', 'arguments', 'parameters'].some(
    (key) => key in first,
  );
}

const refusal =
  /^(?:(?:i['’]?m|i am) (?:really |very |so )?sorry|sorry,|i apologi[sz]e|i (?:cannot|can['’]?t|can not|won['’]?t|will not) |(?:i['’]?m|i am) (?:not able|unable)|as an ai\b|unfortunately, i\b)/i;

/** How an agent goes on with its task, or answers its user. */
const nextStep =
  /^(?:(?:sure|certainly|of course|okay|ok|great|perfect|got it|alright|understood|thanks|thank you|hello|hi)\b[!.,: ]|(?:now,? |next,? |first,? |then,? )?(?:i['’]?ll|i will|let me|let['’]s|i['’]?m going to|i need to|i should)\b)/i;
const beginningLength = 200;
const longestQuestion = 300;

function isAnswer(text: string): boolean {
  if (/summar/i.test(text.slice(0, beginningLength))) return false;
  return nextStep.test(text) || (text.length < longestQuestion && text.endsWith('?'));
}

const empty: RunError = { code: 'summary_empty', message: 'The model said nothing.' };
const isCallOnly: RunError = { code: 'summary_is_call', message: 'The model wrote a tool call in place of a summary.' };
const refused: RunError = { code: 'summary_refused', message: 'The model refused to write a summary.' };
const answered: RunError = {
  code: 'summary_is_answer',
  message: 'The model went on with the conversation in place of summarizing it.',
};
