import { UsageError } from '../command';
import type { Settings } from './env-file';
import {
  type Question,
  type Setup,
  acceptOne,
  acceptUrl,
  answerOr,
  anything,
  keyOr,
  question,
  questions,
} from './questions';

const engines = ['none', 'tavily', 'brave', 'serper', 'serpapi', 'searxng', 'jina'] as const;
const readers = ['built_in', 'firecrawl', 'jina', 'tavily'] as const;
const providers = ['embedded', 'docker', 'daytona'] as const;

/** What the setup asks about services beside those of models. Everything has a default with which Rondo works. */
export const serviceQuestions = {
  search: question('search', `the engine of web_search: ${engines.join(', ')}`, {
    value: 'ENGINE',
    ask: `Which engine searches the web? ${engines.join(', ')}`,
    otherwise: 'none',
    accept: acceptOne(...engines),
  }),
  searxngUrl: question('searxng-url', 'of a SearXNG server, for --search searxng', {
    value: 'URL',
    ask: 'The URL of the SearXNG server',
    otherwise: '',
    accept: acceptUrl('http', 'https'),
  }),
  reader: question('reader', `what reads web pages: ${readers.join(', ')}`, {
    value: 'READER',
    ask: `What reads web pages? ${readers.join(', ')} (a service runs their scripts, and needs a key)`,
    otherwise: 'built_in',
    accept: acceptOne(...readers),
  }),
  readerKey: question('reader-key', 'the key of that service; better in the environment, as FIRECRAWL_API_KEY', {
    value: 'KEY',
    ask: 'The key of the service that reads pages (it is not shown)',
    otherwise: '',
    accept: anything,
    secret: true,
  }),
  rapidApiKey: question('rapidapi-key', 'the key of data providers; better in the environment, as RAPIDAPI_KEY', {
    value: 'KEY',
    ask: 'A key of RapidAPI, for data providers (it is not shown; empty: none)',
    otherwise: '',
    accept: anything,
    secret: true,
  }),
  sandboxes: question('sandboxes', `where tools run: ${providers.join(', ')}`, {
    value: 'WHERE',
    ask: 'Where do tools run? embedded (here), docker (containers of an engine here), daytona (a service)',
    otherwise: 'embedded',
    accept: acceptOne(...providers),
  }),
  install: question('install', 'the name of this deployment at Docker or Daytona', {
    value: 'NAME',
    ask: 'The name of this deployment, with which it labels its sandboxes there',
    otherwise: 'rondo',
    accept: (answer) => (/^[\w-]{1,64}$/.test(answer) ? answer : { wrong: 'letters, digits, dash and underscore' }),
  }),
  dockerImage: question('docker-image', 'what containers are made from; the engine must have it', {
    value: 'IMAGE',
    ask: 'The image of containers, which the engine must have',
    otherwise: 'node:24-bookworm',
    accept: anything,
  }),
  daytonaUrl: question('daytona-url', 'the API of Daytona', {
    value: 'URL',
    ask: 'The API of Daytona',
    otherwise: 'https://app.daytona.io/api',
    accept: acceptUrl('http', 'https'),
  }),
  daytonaKey: question('daytona-key', 'its key; better in the environment, as DAYTONA_API_KEY', {
    value: 'KEY',
    ask: 'The key of Daytona (it is not shown)',
    otherwise: '',
    accept: anything,
    secret: true,
  }),
  databaseUrl: question('database-url', 'your own Postgres', {
    value: 'URL',
    ask: 'The URL of your own Postgres (empty: npm start starts one)',
    otherwise: '',
    accept: acceptUrl('postgresql', 'postgres'),
  }),
  redisUrl: question('redis-url', 'your own Redis', {
    value: 'URL',
    ask: 'The URL of your own Redis (empty: npm start starts one)',
    otherwise: '',
    accept: acceptUrl('redis', 'rediss', 'redis+sentinel', 'rediss+sentinel'),
  }),
  natsUrl: question('nats-url', 'your own NATS', {
    value: 'URL',
    ask: 'The URL of your own NATS (empty: npm start starts one)',
    otherwise: '',
    accept: acceptUrl('nats', 'tls'),
  }),
} as const;

/** The settings of services of tools, of sandboxes and of servers. */
export async function askForServices(setting: Setup): Promise<Settings> {
  const search = await askForSearch(setting);
  return {
    ...search,
    ...(await askForReader({ ...setting, before: { ...setting.before, ...search } })),
    ...(await askForKey('RAPIDAPI_KEY', serviceQuestions.rapidApiKey, setting)),
    ...(await askForSandboxes(setting)),
    ...(await askForServers(setting)),
  };
}

const keyOfEngine = {
  tavily: 'TAVILY_API_KEY',
  brave: 'BRAVE_API_KEY',
  serper: 'SERPER_API_KEY',
  serpapi: 'SERPAPI_API_KEY',
  jina: 'JINA_API_KEY',
} as const;

async function askForSearch(setting: Setup): Promise<Settings> {
  const { given, before } = setting;
  const known = Object.entries(keyOfEngine).find(([, name]) => findValue(name, setting) !== undefined)?.[0];
  const usual = given.value('search-key') === undefined ? known : (known ?? 'tavily');
  const engine = await answerOr(before['SEARXNG_URL'] ? 'searxng' : usual, serviceQuestions.search, setting);
  if (engine === 'none') return {};
  if (engine === 'searxng') {
    const url = await answerOr(before['SEARXNG_URL'], serviceQuestions.searxngUrl, setting);
    if (url === '') throw new UsageError('SearXNG needs --searxng-url.');
    return { SEARXNG_URL: url };
  }
  const name = keyOfEngine[engine as keyof typeof keyOfEngine]; // the question accepts no other
  return requireSetting(name, await askForKey(name, questions.searchKey, setting), '--search-key');
}

async function askForReader(setting: Setup): Promise<Settings> {
  const { before } = setting;
  const usual = before['PAGE_READER'] ?? (findValue('FIRECRAWL_API_KEY', setting) ? 'firecrawl' : undefined);
  const reader = await answerOr(usual, serviceQuestions.reader, setting);
  if (reader === 'built_in') return before['PAGE_READER'] === undefined ? {} : { PAGE_READER: reader };
  const name = `${reader.toUpperCase()}_API_KEY`;
  return {
    PAGE_READER: reader,
    ...requireSetting(name, await askForKey(name, serviceQuestions.readerKey, setting), '--reader-key'),
  };
}

async function askForSandboxes(setting: Setup): Promise<Settings> {
  const { before } = setting;
  const provider = await answerOr(before['SANDBOX_PROVIDER'], serviceQuestions.sandboxes, setting);
  if (provider === 'embedded') return before['SANDBOX_PROVIDER'] === undefined ? {} : { SANDBOX_PROVIDER: provider };
  const common = {
    SANDBOX_PROVIDER: provider,
    SANDBOX_INSTALL: await answerOr(before['SANDBOX_INSTALL'], serviceQuestions.install, setting),
  };
  if (provider === 'docker') {
    return { ...common, DOCKER_IMAGE: await answerOr(before['DOCKER_IMAGE'], serviceQuestions.dockerImage, setting) };
  }
  const url = await answerOr(before['DAYTONA_API_URL'], serviceQuestions.daytonaUrl, setting);
  const key = await askForKey('DAYTONA_API_KEY', serviceQuestions.daytonaKey, setting);
  return { ...common, DAYTONA_API_URL: url, ...requireSetting('DAYTONA_API_KEY', key, '--daytona-key') };
}

async function askForServers(setting: Setup): Promise<Settings> {
  const asked = [
    ['DATABASE_URL', serviceQuestions.databaseUrl],
    ['REDIS_URL', serviceQuestions.redisUrl],
    ['NATS_URL', serviceQuestions.natsUrl],
  ] as const;
  const settings: Record<string, string> = {};
  for (const [name, asking] of asked) {
    const url = await answerOr(setting.before[name], asking, setting);
    if (url !== '') settings[name] = url;
  }
  return settings;
}

/** One key; one that is known is not asked for. */
async function askForKey(name: string, asking: Question, setting: Setup): Promise<Settings> {
  const key = await keyOr(findValue(name, setting), asking, setting);
  return key === '' ? {} : { [name]: key };
}

function requireSetting(name: string, settings: Settings, option: string): Settings {
  if (settings[name] === undefined) throw new UsageError(`A key is needed: ${name} in the environment, or ${option}.`);
  return settings;
}

/** Of the environment, else of the file. */
const findValue = (name: string, { environment, before }: Setup): string | undefined =>
  environment[name] ?? before[name];
