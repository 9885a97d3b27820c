import { agent, agentDefinition, agentSource, agentVersion, definitionChange } from '@rondo/contract';
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

export class NewAgentDto extends createZodDto(
  z.strictObject({ definition: agentDefinition, is_default: isDefault.default(false) }),
) {}
export class AgentChangeDto extends createZodDto(
  z.strictObject({
    definition: agentDefinition.optional().describe('Replaces the whole definition. The same one makes no version.'),
    is_default: isDefault.optional(),
    if_version: ifVersion,
  }),
) {}
/** The name is in the path. */
export class DeclaredAgentDto extends createZodDto(
  z.strictObject({ definition: agentDefinition.omit({ name: true }), is_default: isDefault.optional() }),
) {}
export class VersionActivationDto extends createZodDto(z.strictObject({ if_version: ifVersion })) {}

export class AgentDto extends createZodDto(agent) {}
export class AgentPageDto extends createZodDto(pageOf(agent)) {}
export class AgentQueryDto extends createZodDto(
  pageQuery.extend({ search: z.string().max(200).optional().describe('A part of the name, in any case.') }),
) {}

export class AgentVersionDto extends createZodDto(agentVersion) {}
export class AgentVersionPageDto extends createZodDto(pageOf(agentVersion)) {}
export class AgentVersionQueryDto extends createZodDto(pageQuery) {}

export class ComparisonQueryDto extends createZodDto(z.strictObject({ from: versionQuery, to: versionQuery })) {}
export class AgentComparisonDto extends createZodDto(
  z.object({ from: z.number().int(), to: z.number().int(), changes: z.array(definitionChange) }),
) {}

export class ThreadAgentDto extends createZodDto(z.object({ source: agentSource, agent: agent.nullable() })) {}
