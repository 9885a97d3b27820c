import type { NewSchedule, NewWebhookTrigger, OverlapPolicy, ThreadPolicy, TriggeredRun } from '@rondo/client';
import { readNumber, toText } from '../ui/form.tsx';

type NewTriggeredRun = NewSchedule['run'] & NewWebhookTrigger['run'];

export const overlaps: readonly (readonly [OverlapPolicy, string])[] = [
  ['skip', 'skip it'],
  ['queue', 'begin after the earlier one'],
  ['allow', 'begin beside it'],
];

export const threads: readonly (readonly [ThreadPolicy, string])[] = [
  ['new', 'each a thread of its own'],
  ['same', 'all on the same thread'],
];

/** The choice of a field; the first one if it is none of them. */
export function toChoice<Name extends string>(
  fields: FormData,
  name: string,
  choices: readonly (readonly [Name, string])[],
): Name {
  const [first] = choices;
  if (!first) throw new Error('There is nothing to choose from.');
  return (choices.find(([value]) => value === toText(fields, name)) ?? first)[0];
}

/** What the runs begin with. What the form does not have stays as it was. */
export function toTriggeredRun(fields: FormData, before?: TriggeredRun): NewTriggeredRun {
  const [agentId, model, usd] = [toText(fields, 'agent_id'), toText(fields, 'model'), readNumber(fields, 'budget.usd')];
  const { agent_id: _, model: __, budget, ...kept } = before ?? {};
  const { usd: ___, ...otherBudget } = budget ?? {};
  const newBudget = usd === undefined ? otherBudget : { ...otherBudget, usd };
  return {
    ...kept,
    input: toText(fields, 'input'),
    ...(agentId !== '' && { agent_id: agentId }),
    ...(model !== '' && { model }),
    ...(Object.keys(newBudget).length > 0 && { budget: newBudget }),
  };
}
