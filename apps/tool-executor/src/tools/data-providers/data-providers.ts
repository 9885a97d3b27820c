import { type ServiceClient, type ServiceEndpoint, endpointAt } from '../../services/service-client';
import { type DataProvider, type DataRoute, providerNamed, routeNamed } from './provider-catalog';

const timeoutMs = 60_000;

export interface DataCall {
  readonly provider: string;
  readonly route: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What is wrong with a call, for the model. */
interface CallProblem {
  readonly problem: string;
}

/** Calls the routes of the catalog through RapidAPI. */
export class DataProviders {
  constructor(
    private readonly toClient: (endpoint: ServiceEndpoint) => Pick<ServiceClient, 'call'>,
    private readonly access: { readonly key: string; readonly url: string | undefined },
  ) {}

  /** Rejects with ServiceProblem when the provider has no answer. */
  async call({ provider: name, route: routeName, parameters }: DataCall, signal: AbortSignal) {
    const provider = providerNamed(name);
    if ('problem' in provider) return provider;
    const route = routeNamed(provider, routeName);
    if ('problem' in route) return route;
    const problem = findProblem(route, parameters);
    return problem ?? { data: await this.request(provider, route, { parameters, signal }) };
  }

  private request(
    { title, host }: DataProvider,
    { method, path }: DataRoute,
    { parameters, signal }: { parameters: DataCall['parameters']; signal: AbortSignal },
  ): Promise<unknown> {
    const { key, url } = this.access;
    const endpoint = endpointAt(title, { key, url, publicUrl: `https://${host}` });
    const content = method === 'GET' ? { query: toQuery(parameters) } : { body: parameters };
    const headers = { 'x-rapidapi-key': key, 'x-rapidapi-host': host };
    return this.toClient(endpoint).call({ method, path, headers, ...content }, { signal, timeoutMs });
  }
}

function findProblem({ parameters }: DataRoute, given: DataCall['parameters']): CallProblem | undefined {
  const known = Object.entries(parameters);
  const missing = known.filter(([name, { required }]) => required && given[name] === undefined).map(([name]) => name);
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(parameters, name));
  if (missing.length === 0 && unknown.length === 0) return undefined;
  const wrong = [
    ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`unknown: ${unknown.join(', ')}`] : []),
  ];
  return {
    problem: `Wrong parameters (${wrong.join('; ')}). The route has: ${known.map(([name]) => name).join(', ') || 'none'}.`,
  };
}

const toQuery = (parameters: DataCall['parameters']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
