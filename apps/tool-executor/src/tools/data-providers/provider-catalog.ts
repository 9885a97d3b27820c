import { z } from 'zod';
import catalogJson from './provider-catalog.json';

const parameter = z.strictObject({
  description: z.string().min(1),
  required: z.boolean().default(false),
  example: z.union([z.string(), z.number(), z.boolean()]).optional(),
});

const route = z.strictObject({
  description: z.string().min(1),
  method: z.enum(['GET', 'POST']),
  path: z.string().regex(/^\/[\w./-]*$/),
  parameters: z.record(z.string().regex(/^\w+$/), parameter),
});
export type DataRoute = z.infer<typeof route>;

const provider = z.strictObject({
  title: z.string().min(1),
  host: z.string().regex(/^[a-z\d-]+\.p\.rapidapi\.com$/),
  routes: z.record(z.string().regex(/^[a-z][a-z\d_]*$/), route),
});
export type DataProvider = z.infer<typeof provider>;

/** All data providers, as data: a new route is a few lines of provider-catalog.json. */
export const providerCatalog = z.record(z.string().regex(/^[a-z][a-z_]*$/), provider).parse(catalogJson);

export interface UnknownName {
  readonly problem: string;
}

export function providerNamed(name: string): DataProvider | UnknownName {
  const found = Object.hasOwn(providerCatalog, name) ? providerCatalog[name] : undefined;
  const names = Object.keys(providerCatalog).join(', ');
  return found ?? { problem: `There is no data provider "${name}". Data providers: ${names}.` };
}

export function routeNamed({ title, routes }: DataProvider, name: string): DataRoute | UnknownName {
  const found = Object.hasOwn(routes, name) ? routes[name] : undefined;
  return found ?? { problem: `${title} has no route "${name}". Routes: ${Object.keys(routes).join(', ')}.` };
}

/** The routes with their parameters, for the model. */
export function describeProvider({ title, routes }: DataProvider): string {
  const described = Object.entries(routes).map(([name, { description, parameters }]) =>
    [`${name}: ${description}`, ...Object.entries(parameters).map(describeParameter)].join('\n'),
  );
  return [`Routes of ${title}, for execute_data_provider_call:`, ...described].join('\n\n');
}

function describeParameter([name, { description, required, example }]: [string, z.infer<typeof parameter>]): string {
  const sample = example === undefined ? '' : ` For example ${JSON.stringify(example)}.`;
  return `  ${name}${required ? ' (required)' : ''}: ${description}${sample}`;
}
