import type { SettingsRequest } from '@rondo/contract';
import { effectiveSettings, readProviders } from '@rondo/domain';
import { validateModel } from './run-settings';

const local = {
  name: 'local',
  base_url: 'http://local/v1',
  models: [{ id: 'priced', price: { input: 1, output: 2 } }, { id: 'free' }],
};
const known = readProviders({ MODEL_PROVIDERS: JSON.stringify([local]) });

function fieldsRefused(request: SettingsRequest): string[] {
  const effective = effectiveSettings(request, { model: 'local/priced' });
  if ('problems' in effective) throw new Error(JSON.stringify(effective.problems));
  return validateModel(effective.settings, known).map(({ field }) => field);
}

const budget = { usd: 1 };

it.each<[SettingsRequest, string[]]>([
  [{}, []],
  [{ model: 'absent/x' }, ['model']],
  [{ context: { summary_model: 'absent/x' } }, ['context.summary_model']],
  [{ budget }, []],
  [{ model: 'local/free' }, []],
  [{ model: 'local/free', budget }, ['budget.usd']],
  [{ model: 'local/free', budget: { tokens: 9 } }, []],
  [{ context: { summary_model: 'local/free' }, budget }, ['budget.usd']],
  [{ model: 'absent/x', budget }, ['model']],
])('refuses what the workers could not do: %j', (request, fields) => {
  expect(fieldsRefused(request)).toEqual(fields);
});
