import { type ModelProviders, type RunSettings, type SettingsProblem, whyNotConfigured } from '@rondo/domain';

/** Models that the workers cannot ask are refused at the door. */
export function modelProblems({ model, context }: RunSettings, providers: ModelProviders): SettingsProblem[] {
  return [
    { field: 'model', name: model },
    { field: 'context.summary_model', name: context.summary_model },
  ].flatMap(({ field, name }) => {
    const message = name === undefined ? undefined : whyNotConfigured(name, providers);
    return message === undefined ? [] : [{ field, message }];
  });
}
