import { z } from 'zod';
import { defineTool } from './define-tool';

const serviceName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .describe('linkedin, twitter, zillow, amazon, yahoo_finance or active_jobs.');

export const getDataProviderEndpoints = defineTool({
  name: 'get_data_provider_endpoints',
  description:
    'List the routes of a data provider with their parameters, for execute_data_provider_call. Prefer a data provider to ' +
    'searching the web where it has the data.',
  input: z.strictObject({ service_name: serviceName }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs: 30_000,
  group: 'web',
  needs: 'data_providers',
  example: { service_name: 'twitter' },
  xml: { attributes: ['service_name'] },
});

export const executeDataProviderCall = defineTool({
  name: 'execute_data_provider_call',
  description: 'Call a route of a data provider and return its data. It only reads. List the routes first.',
  input: z.strictObject({
    service_name: serviceName,
    route: z.string().trim().min(1).max(100).describe('The name of the route.'),
    payload: z.object({}).catchall(z.unknown()).optional().describe('The parameters of the route, by name.'),
  }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs: 90_000,
  group: 'web',
  needs: 'data_providers',
  example: { service_name: 'twitter', route: 'user_info', payload: { screenname: 'nasa' } },
  xml: { attributes: ['service_name', 'route'] },
});
