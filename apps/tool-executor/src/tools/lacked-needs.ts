import { existsSync } from 'node:fs';
import type { ToolNeed } from '@rondo/domain';
import type { Config } from '../config';
import type { ToolServices } from './tool-services';

type Needed = Pick<
  Config,
  'PREVIEW_URL' | 'BROWSER_PATH' | 'SANDBOX_PROVIDER' | 'SANDBOX_EGRESS' | 'SANDBOX_INTERNAL_HOSTS'
>;

const reasons: Record<ToolNeed, string> = {
  search_engine:
    'No search engine is configured: the tool-executor has no TAVILY_API_KEY, BRAVE_API_KEY, SERPER_API_KEY or SEARXNG_URL.',
  data_providers: 'The tool-executor has no RAPIDAPI_KEY.',
  internet: 'Sandboxes reach nothing: SANDBOX_EGRESS of the tool-executor is none.',
  browser: 'BROWSER_PATH of the tool-executor names no Chromium, or its sandboxes are at another provider.',
  previews: 'The tool-executor has no PREVIEW_URL.',
};

/** What this executor lacks for tools, with the reason for its operator. It announces this, so that such tools are not offered. */
export function lackedNeeds(config: Needed, { search, dataProviders }: ToolServices): Partial<typeof reasons> {
  const isCutOff = config.SANDBOX_EGRESS === 'none' && (config.SANDBOX_INTERNAL_HOSTS ?? []).length === 0;
  const has: Partial<Record<ToolNeed, boolean>> = {
    search_engine: search !== undefined,
    data_providers: dataProviders !== undefined,
    internet: !isCutOff,
    browser: config.SANDBOX_PROVIDER === 'embedded' && existsSync(config.BROWSER_PATH ?? ''),
    previews: config.PREVIEW_URL !== undefined,
  };
  return Object.fromEntries(Object.entries(reasons).filter(([need]) => has[need as ToolNeed] === false)); // its own keys
}
