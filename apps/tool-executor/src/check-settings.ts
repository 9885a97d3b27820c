import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { OutboundProxy, toMessage } from '@rondo/platform';
import { z } from 'zod';
import { environment, toSandboxSettings } from './config';
import { createSandboxProvider } from './sandboxes/create-sandbox-provider';
import type { EgressGate, SandboxLog, SandboxProvider } from './sandboxes';
import { findReader } from './tools/web/page-services';
import { type ToolServices, createToolServices } from './tools/tool-services';

/** What came of the requests for one group of settings. */
export interface CheckedSetting {
  /** `web search`, `page reader`, `data providers`, `sandboxes`, or `settings` where they cannot be read at all. */
  readonly what: string;
  readonly works: boolean;
  /** Why it does not, in a sentence for people. No key is in it. */
  readonly reason?: string;
}

type Variables = Readonly<Record<string, string | undefined>>;
type Check = () => Promise<string | undefined>;

const patienceMs = 60_000;
const page = new URL('https://example.com/');
const silent: SandboxLog = { info: () => undefined, warn: () => undefined };

/**
 * Tries what these variables of the executor configure, each by the request that the executor itself sends: a search, a page, a
 * call of a data provider, a sandbox. What is not configured is left out, and so are sandboxes on this machine without Docker,
 * which `rondo doctor` tries. `egress` judges the page; that of a sandbox unless given.
 */
export async function checkSettings(variables: Variables, egress?: EgressGate): Promise<CheckedSetting[]> {
  const directory = mkdtempSync(join(tmpdir(), 'rondo-check-'));
  try {
    const given = Object.entries(variables).filter(([, value]) => value !== undefined && value !== '');
    const config = environment.parse({ ...Object.fromEntries(given), ...ofEveryExecutor(directory) });
    const proxy = OutboundProxy.from(config);
    const services = createToolServices(config, { proxy });
    const provider = createSandboxProvider(toSandboxSettings(config), silent, { proxy });
    const readsByService = findReader(config) !== undefined;
    const checks: [string, Check | undefined][] = [
      ['web search', services.search && (() => trySearch(services))],
      ['page reader', readsByService ? () => tryPage(services, egress ?? provider.toEgress('thr_check')) : undefined],
      ['data providers', services.dataProviders && (() => tryDataProviders(services))],
      ['sandboxes', config.SANDBOX_PROVIDER === 'embedded' ? undefined : () => trySandbox(provider)],
    ];
    const checked = checks.flatMap(([what, check]) => (check ? [runCheck(what, check)] : []));
    try {
      return await Promise.all(checked);
    } finally {
      await provider.close();
    }
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : toMessage(error);
    return [{ what: 'settings', works: false, reason }];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What the executor cannot start without, and none of the checks uses. */
const ofEveryExecutor = (directory: string) => ({
  PORT: '0',
  NATS_URL: 'nats://127.0.0.1:4222',
  EXECUTOR_ID_FILE: join(directory, 'executor-id'),
  SANDBOX_ROOT: join(directory, 'sandboxes'),
});

async function runCheck(what: string, check: Check): Promise<CheckedSetting> {
  const reason = await check().catch(toMessage);
  return reason === undefined ? { what, works: true } : { what, works: false, reason };
}

async function trySearch({ search }: ToolServices): Promise<undefined> {
  await search?.find('weather', 1, AbortSignal.timeout(patienceMs));
}

async function tryPage({ pages }: ToolServices, egress: EgressGate): Promise<undefined> {
  await pages.read(page, egress, AbortSignal.timeout(patienceMs));
}

/** Each data provider has a subscription of its own at RapidAPI; the first of the list stands for all. */
async function tryDataProviders({ dataProviders }: ToolServices): Promise<string | undefined> {
  const call = { provider: 'yahoo_finance', route: 'search', parameters: { search: 'AA' } };
  const answer = await dataProviders?.call(call, AbortSignal.timeout(patienceMs));
  return answer && 'problem' in answer ? answer.problem : undefined;
}

async function trySandbox(provider: SandboxProvider): Promise<string | undefined> {
  const { usable, reason, advice } = await provider.probe();
  return usable ? undefined : [reason, advice].filter(Boolean).join(' ');
}

/** As a program: the variables come as JSON over standard input, and what came of the checks leaves as JSON. */
async function main(): Promise<void> {
  const variables = z.record(z.string(), z.string()).parse(JSON.parse(await text(process.stdin)));
  const checked = await checkSettings(variables);
  process.stdout.write(JSON.stringify(checked), () => process.exit(0));
}

if (require.main === module) void main();
