import { type CallerTool, usualCallerTimeoutS } from '@rondo/contract';
import { z } from 'zod';
import type { ToolDefinition } from './define-tool';

const anyArguments = z.looseObject({});
const noParameters = { type: 'object', properties: {} };

/** A tool that the caller runs, as the loop knows it. The caller validates the arguments of its calls. */
export const toCallerTool = (tool: CallerTool): ToolDefinition => ({
  name: tool.name,
  description: tool.description,
  input: anyArguments,
  parameters: tool.parameters ?? noParameters,
  effect: tool.effect_class ?? 'unsafe',
  runsIn: 'caller',
  timeoutMs: (tool.timeout_s ?? usualCallerTimeoutS) * 1_000,
  group: 'caller',
  source: { kind: 'caller' },
});
