import { isDeepStrictEqual } from 'node:util';
import { type ReasoningEffort, reasoningEffort } from '@rondo/contract';
import type { ProfileRules } from '@rondo/domain';

export type EffortRules = Pick<ProfileRules, 'efforts'>;

const names = reasoningEffort.options.join('|');

/** Responses names the refused value only, and not the parameter. */
const aboutEfforts = new RegExp(`effort|unsupported value: '(?:${names})'`, 'i');

/** What follows is a list of words, with any signs between them. */
const listed = new RegExp(
  `(?:supported (?:values|levels)(?: are)?|valid levels|one of|should be)((?:\\b(?:${names}|and|or)\\b|[\\s:,|'"\`[(])+)`,
  'i',
);

/** So the makers of Gemini and OpenRouter refuse `none`. */
const thinksAlways =
  /only works in thinking mode|thinking can(?:'t|not) be disabled|setting thinking_budget to 0|reasoning is mandatory/i;

/** The rules with the efforts that a model has by its refusal of another; undefined where that is nothing new. */
export function learnEfforts<Rules extends EffortRules>(rules: Rules, message: string): Rules | undefined {
  const { efforts: before = reasoningEffort.options } = rules;
  const efforts = thinksAlways.test(message) ? before.filter((one) => one !== 'none') : listEfforts(message);
  const hasAny = efforts.some((one) => one !== 'none'); // where it has not, it may think by another word
  return hasAny && !isDeepStrictEqual(efforts, rules.efforts) ? { ...rules, efforts } : undefined;
}

function listEfforts(message: string): readonly ReasoningEffort[] {
  const list = aboutEfforts.test(message) ? listed.exec(message)?.[1] : undefined;
  const words = new Set(list?.toLowerCase().match(/[a-z]+/g));
  return reasoningEffort.options.filter((one) => words.has(one));
}
