import { z } from 'zod';
import type { ToolDefinition } from '../tools/define-tool';

/** A tool of an MCP server; `name` is `server__tool`. */
export function serverTool(name: string, description = 'Does something.', properties: object = {}): ToolDefinition {
  const [server = '', tool = ''] = name.split('__');
  return {
    ...{ name, description: `Tool of the server "${server}". ${description}`, input: z.looseObject({}) },
    parameters: { type: 'object', properties },
    ...{ effect: 'unsafe', runsIn: 'executor', timeoutMs: 1_000, group: 'external' },
    source: { kind: 'mcp', server, tool, fingerprint: name },
  };
}

/** As many as no provider takes. */
export const manyServerTools = (server: string, count: number): ToolDefinition[] =>
  Array.from({ length: count }, (_, at) => serverTool(`${server}__do_${at}`));
