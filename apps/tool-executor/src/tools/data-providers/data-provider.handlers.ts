import { type ToolResult, toFailedResult } from '@rondo/contract';
import { ServiceProblem } from '../../services/service-client';
import { clipMiddle } from '../clip-text';
import { type ToolInput, type ToolHandler, toSuccess } from '../tool-handler';
import type { ToolServices } from '../tool-services';
import { withinTime } from '../within-time';
import { describeProvider, providerNamed } from './provider-catalog';

const unconfigured = 'No data providers are configured here.';

export const getDataProviderEndpoints: ToolHandler<ToolInput<'get_data_provider_endpoints'>> = {
  handle: ({ service_name }, { services }) => Promise.resolve(toEndpoints(service_name, services)),
};

function toEndpoints(name: string, { dataProviders }: ToolServices): ToolResult {
  if (!dataProviders) return toFailedResult(unconfigured);
  const provider = providerNamed(name);
  return 'problem' in provider ? toFailedResult(provider.problem) : toSuccess(describeProvider(provider));
}

export const executeDataProviderCall: ToolHandler<ToolInput<'execute_data_provider_call'>> = {
  handle: ({ service_name, route, payload = {} }, context) =>
    withinTime(context, async (signal) => {
      const { dataProviders } = context.services;
      if (!dataProviders) return toFailedResult(unconfigured);
      try {
        const called = await dataProviders.call({ provider: service_name, route, parameters: payload }, signal);
        if ('problem' in called) return toFailedResult(called.problem);
        const { text, truncated } = clipMiddle(JSON.stringify(called.data, undefined, 1));
        return toSuccess(text, truncated);
      } catch (error) {
        if (error instanceof ServiceProblem) return toFailedResult(error.message);
        throw error;
      }
    }),
};
