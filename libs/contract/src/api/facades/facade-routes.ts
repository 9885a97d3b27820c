import { a2a, a2aCoverage } from './a2a';
import { agUi, agUiCoverage } from './ag-ui';
import { aiSdk, aiSdkCoverage } from './ai-sdk';
import { anthropic } from './anthropic';
import { anthropicCoverage } from './anthropic-coverage';
import type { FacadeCoverage } from './coverage';
import { iiAgent, iiAgentCoverage } from './ii-agent';
import { langGraph } from './langgraph';
import { langGraphCoverage } from './langgraph-coverage';
import { mcp, mcpCoverage } from './mcp';
import { openAi, openAiCoverage } from './openai';
import { suna, sunaCoverage } from './suna';

/** The routes of all façades. What another account may not see is tested for each: an unknown chat is no error there. */
export const facadeRoutes = {
  ...a2a,
  ...agUi,
  ...aiSdk,
  ...anthropic,
  ...iiAgent,
  ...langGraph,
  ...mcp,
  ...openAi,
  ...suna,
};

/** By the names of the pages in `docs/facades/`. */
export const facadeCoverage: Readonly<Record<string, FacadeCoverage>> = {
  a2a: a2aCoverage,
  'ag-ui': agUiCoverage,
  'ai-sdk': aiSdkCoverage,
  'claude-managed-agents': anthropicCoverage,
  'ii-agent': iiAgentCoverage,
  langgraph: langGraphCoverage,
  mcp: mcpCoverage,
  openai: openAiCoverage,
  suna: sunaCoverage,
};
