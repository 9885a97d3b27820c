import {
  agent,
  agentDefinition,
  agentSort,
  agentSource,
  agentTag,
  agentTags,
  agentVersion,
  definitionChange,
  sortOrder,
  versionNote,
} from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';

const maxVersion = 2 ** 31 - 1;
const versionNumber = z.number().int().min(1).max(maxVersion);
const versionQuery = z.coerce.number().int().min(1).max(maxVersion);

const ifVersion = versionNumber
  .optional()
  .describe('The active version that the client knows. Refused with `agent_changed` if another one is active.');
const isDefault = z.boolean().describe('Whether runs of the account that name no agent begin with it.');

const tags = agentTags.describe('A set of tags to find it by, in lower case. They make no version.');
const note = versionNote.optional().describe('Kept with the version that the definition makes; lost if it makes none.');

export class NewAgentDto extends createZodDto(
  z.strictObject({ definition: agentDefinition, is_default: isDefault.default(false), tags: tags.default([]), note }),
) {}
export class AgentChangeDto extends createZodDto(
  z
    .strictObject({
      definition: agentDefinition.optional().describe('Replaces the whole definition. The same one makes no version.'),
      is_default: isDefault.optional(),
      tags: tags.optional(),
      note,
      if_version: ifVersion,
    })
    .refine((change) => change.note === undefined || change.definition !== undefined, {
      path: ['note'],
      message: 'needs a definition: the note of a version that is there is changed by a PATCH of the version',
    }),
) {}
/** The name is in the path. */
export class DeclaredAgentDto extends createZodDto(
  z.strictObject({
    definition: agentDefinition.omit({ name: true }),
    is_default: isDefault.optional(),
    tags: tags.optional(),
    note,
  }),
) {}
export class VersionActivationDto extends createZodDto(z.strictObject({ if_version: ifVersion })) {}

export class AgentDto extends createZodDto(agent) {}
export class AgentPageDto extends createZodDto(pageOf(agent)) {}
export class AgentQueryDto extends createZodDto(
  pageQuery.extend({
    search: z.string().max(200).optional().describe('A part of the name, in any case.'),
    tag: z
      .string()
      .transform((list) => list.split(','))
      .pipe(z.array(agentTag).max(20))
      .optional()
      .describe('One tag, or several with commas between them: agents that have all of them.'),
    is_default: z.stringbool().optional(),
    has_mcp: z.stringbool().optional().describe('Whether the definition names an MCP server.'),
    tool: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('Definitions that name this tool, or else its group, and do not switch it off.'),
    sort: agentSort.default('created_at'),
    order: sortOrder
      .optional()
      .describe('`asc` is the default for `name`, and `desc`, the newest first, for the others.'),
  }),
) {}

export class AgentVersionDto extends createZodDto(agentVersion) {}
export class AgentVersionPageDto extends createZodDto(pageOf(agentVersion)) {}
export class VersionChangeDto extends createZodDto(
  z.strictObject({ note: versionNote.nullable().describe('Null removes it.') }),
) {}
export class AgentVersionQueryDto extends createZodDto(pageQuery) {}

export class ComparisonQueryDto extends createZodDto(z.strictObject({ from: versionQuery, to: versionQuery })) {}
export class AgentComparisonDto extends createZodDto(
  z.object({
    from: z.number().int(),
    to: z.number().int(),
    from_note: agentVersion.shape.note,
    to_note: agentVersion.shape.note,
    changes: z.array(definitionChange),
  }),
) {}

export class ThreadAgentDto extends createZodDto(z.object({ source: agentSource, agent: agent.nullable() })) {}
